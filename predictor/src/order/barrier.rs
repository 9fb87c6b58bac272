//! The edges of barriers.
//!
//! All who arrive for a generation come before all who leave it, and before all who arrive for a
//! later generation.

use racelog::trace::{BarrierId, ThreadId};
use rustc_hash::FxHashMap;

use super::flow::{Knower, Knowledge, leave};
use crate::trace::Trace;

#[derive(Debug)]
pub(super) struct Barriers {
    barriers: Vec<Barrier>,
    /// The generations that a thread has arrived for and not all threads have left.
    generations: FxHashMap<(BarrierId, u64), Generation>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Barrier {
    newest: Option<u64>,
    /// What all who have ever arrived knew.
    all: Option<Knower>,
    /// What all who arrived for generations before the newest knew.
    past: Option<Knower>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Generation {
    arrivals: Option<Knower>,
    /// How many have arrived and not left.
    inside: u32,
}

impl Barriers {
    pub(super) fn new(trace: &Trace) -> Self {
        Self {
            barriers: vec![Barrier::default(); trace.barrier_count()],
            generations: FxHashMap::default(),
        }
    }

    pub(super) fn before_arrival<K: Knowledge>(
        &mut self,
        know: &mut K,
        t: ThreadId,
        barrier: BarrierId,
        generation: u64,
    ) {
        let Barrier { newest, all, past } = &mut self.barriers[barrier.index()];
        if newest.is_none_or(|newest| newest < generation) {
            *newest = Some(generation);
            if let Some(all) = *all {
                let past = *past.get_or_insert_with(|| know.new_knower());
                know.copy(past, all);
            }
        }
        if let Some(past) = *past {
            know.join(Knower::of(t), past);
        }
    }

    pub(super) fn after_arrival<K: Knowledge>(
        &mut self,
        know: &mut K,
        t: ThreadId,
        barrier: BarrierId,
        generation: u64,
    ) {
        let entry = self.generations.entry((barrier, generation)).or_default();
        leave(know, &mut entry.arrivals, Knower::of(t));
        entry.inside += 1;
        leave(know, &mut self.barriers[barrier.index()].all, Knower::of(t));
        know.publish(t);
    }

    /// Nobody leaves before all have arrived, so when the last one leaves, nobody else will.
    pub(super) fn leave<K: Knowledge>(
        &mut self,
        know: &mut K,
        t: ThreadId,
        barrier: BarrierId,
        generation: u64,
    ) {
        let key = (barrier, generation);
        let Some(entry) = self.generations.get_mut(&key) else { return };
        let Some(arrivals) = entry.arrivals else { return };
        know.join(Knower::of(t), arrivals);
        entry.inside = entry.inside.saturating_sub(1);
        if entry.inside == 0 {
            know.free(arrivals);
            self.generations.remove(&key);
        }
    }
}
