//! How much of a trace has to do with threads that wait, counted while it is read.

use racelog::trace::{
    Awaited, ChannelId, Definition, Dictionary, Event, LockEffect, LockId, Op, Patience, ThreadId,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lock_graph::components;

/// What the figures of [`Waiting::figures`] are called.
pub const WAITING: [&str; 4] = ["waits", "circles", "bounded", "standing"];

/// What is counted.
#[derive(Debug, Default)]
pub struct Waiting {
    waits: u64,
    bounded: FxHashSet<ChannelId>,
    /// How many definitions of the dictionary have been looked at.
    defined: usize,
    held: FxHashMap<ThreadId, Vec<LockId>>,
    /// Which locks are asked for under which others, for as long as it takes.
    order: FxHashSet<(LockId, LockId)>,
    /// The threads that are about to do what they cannot do at once.
    standing: FxHashSet<ThreadId>,
}

impl Waiting {
    /// Takes an event into account. `dictionary` has what was said before it.
    pub fn add(&mut self, event: &Event, dictionary: &Dictionary) {
        for definition in &dictionary.definitions()[self.defined..] {
            if let Definition::Capacity { channel, .. } = definition {
                self.bounded.insert(*channel);
            }
        }
        self.defined = dictionary.definitions().len();
        self.standing.remove(&event.thread);
        let for_ever = event.patience == Patience::Forever;
        self.waits += u64::from(for_ever && self.is_wait(&event.op));
        let Some(used) = event.op.lock_use() else { return };
        let held = self.held.entry(event.thread).or_default();
        match used.effect {
            LockEffect::Takes => {
                let is_asked = for_ever && matches!(event.op, Op::Acquire(_) | Op::ReadAcquire(_));
                let others = held.iter().filter(|held| is_asked && **held != used.lock);
                self.order.extend(others.map(|held| (*held, used.lock)));
                held.push(used.lock);
            }
            LockEffect::GivesBack => {
                if let Some(at) = held.iter().rposition(|held| *held == used.lock) {
                    held.remove(at);
                }
            }
            LockEffect::FindsTaken | LockEffect::FindsFree => {}
        }
    }

    /// Takes into account that a thread cannot do something at once.
    pub fn add_request(&mut self, thread: ThreadId) {
        self.standing.insert(thread);
    }

    /// Whether a thread can wait at an operation for something else than a lock.
    fn is_wait(&self, op: &Op) -> bool {
        match op.awaited() {
            Some(Awaited::Room(channel)) => self.bounded.contains(&channel),
            Some(
                Awaited::Initialiser(_)
                | Awaited::Notification { .. }
                | Awaited::Token
                | Awaited::End(_)
                | Awaited::EndOfScope(..)
                | Awaited::Message(_)
                | Awaited::LastSender(_)
                | Awaited::Arrivals(..),
            ) => true,
            Some(Awaited::Lock { .. } | Awaited::LockAgain(_)) | None => false,
        }
    }

    /// How often threads could wait for something else than a lock, for as long as it takes; how
    /// many groups of locks there are of which each is asked for under another; channels with a
    /// bound; and threads that stand before an operation when the trace ends.
    pub fn figures(&self) -> [u64; 4] {
        [self.waits, self.circles(), self.bounded.len() as u64, self.standing.len() as u64]
    }

    fn circles(&self) -> u64 {
        let mut numbers: FxHashMap<LockId, usize> = FxHashMap::default();
        let mut next: Vec<Vec<usize>> = Vec::new();
        for (held, asked) in &self.order {
            let [held, asked] = [held, asked].map(|lock| {
                *numbers.entry(*lock).or_insert_with(|| {
                    next.push(Vec::new());
                    next.len() - 1
                })
            });
            next[held].push(asked);
        }
        let mut sizes: FxHashMap<usize, usize> = FxHashMap::default();
        for component in components(&next) {
            *sizes.entry(component).or_default() += 1;
        }
        sizes.values().filter(|size| **size > 1).count() as u64
    }
}
