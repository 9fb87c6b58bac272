//! What the rules ask of the observed order.

use std::collections::BTreeMap;

use racelog::trace::{BarrierId, ChannelId};
use rustc_hash::FxHashMap;

use crate::trace::{EventId, Op, Trace};

/// Facts of the observed trace that hold in every execution.
#[derive(Debug)]
pub(super) struct Observed {
    /// For each access: how many accesses of its variable must have happened before. For an
    /// `exclusive`, and in mixed memory, all that precede it; for any other, those up to the last
    /// `exclusive` before. Empty if no access has to wait for another.
    required: Vec<u32>,
    /// For each event: how many events must have happened before. For one of a foreign thread, all
    /// that precede it; for any other, those up to the last one of a foreign thread. Empty if there
    /// are no foreign threads. Where each event waits for that many, they are the very events that
    /// precede it: nothing that comes later can have happened instead.
    preceding: Vec<u32>,
    generation_at: FxHashMap<(BarrierId, u64), usize>,
    generations: Vec<Generation>,
    /// For each channel, how many times a sender is dropped in all.
    closes: Vec<u32>,
    /// For each channel, how many times a receiver is dropped in all.
    receiver_closes: Vec<u32>,
    /// The `recv_empty` events that came after all of those: they show that some sender lives on.
    outlived: Vec<EventId>,
}

/// A generation of a barrier.
#[derive(Clone, Debug)]
struct Generation {
    /// The arrivals for it.
    arrivals: Vec<EventId>,
    /// The generation before it.
    previous: Option<usize>,
}

impl Observed {
    pub(super) fn new(trace: &Trace) -> Self {
        let (generation_at, generations) = barrier_generations(trace);
        let (closes, receiver_closes, outlived) = channel_ends(trace);
        Self {
            required: required_accesses(trace),
            preceding: preceding_events(trace),
            generation_at,
            generations,
            closes,
            receiver_closes,
            outlived,
        }
    }

    #[inline]
    pub(super) fn required_accesses(&self, access: EventId) -> Option<u32> {
        self.required.get(access.index()).copied()
    }

    #[inline]
    pub(super) fn preceding_events(&self, event: EventId) -> Option<u32> {
        self.preceding.get(event.index()).copied()
    }

    pub(super) fn generation_count(&self) -> usize {
        self.generations.len()
    }

    pub(super) fn generation(&self, barrier: BarrierId, generation: u64) -> usize {
        self.generation_at[&(barrier, generation)]
    }

    pub(super) fn previous_generation(&self, generation: usize) -> Option<usize> {
        self.generations[generation].previous
    }

    pub(super) fn arrivals(&self, generation: usize) -> &[EventId] {
        &self.generations[generation].arrivals
    }

    pub(super) fn closes(&self, channel: ChannelId) -> u32 {
        self.closes[channel.index()]
    }

    pub(super) fn receiver_closes(&self, channel: ChannelId) -> u32 {
        self.receiver_closes[channel.index()]
    }

    pub(super) fn outlives_closes(&self, recv_empty: EventId) -> bool {
        self.outlived.binary_search(&recv_empty).is_ok()
    }
}

fn required_accesses(trace: &Trace) -> Vec<u32> {
    let mut ordered: Vec<bool> = trace.vars().map(|var| trace.is_mixed(var)).collect();
    for op in trace.ops() {
        if let Op::Exclusive { var, .. } = op {
            ordered[var.index()] = true;
        }
    }
    if !ordered.contains(&true) {
        return Vec::new();
    }
    let mut required = vec![0; trace.len()];
    for var in trace.vars().filter(|var| ordered[var.index()]) {
        let mut barrier = 0;
        for (rank, access) in (0u32..).zip(trace.events_of_var(var)) {
            let exclusive =
                trace.is_mixed(var) || matches!(trace.op(*access), Op::Exclusive { .. });
            required[access.index()] = if exclusive { rank } else { barrier };
            if exclusive {
                barrier = rank + 1;
            }
        }
    }
    required
}

fn preceding_events(trace: &Trace) -> Vec<u32> {
    if !trace.threads().any(|thread| trace.is_foreign(thread)) {
        return Vec::new();
    }
    let mut up_to_last = 0;
    let preceding = |event: EventId| {
        let index = event.index() as u32;
        if !trace.is_foreign(trace.thread(event)) {
            return up_to_last;
        }
        up_to_last = index + 1;
        index
    };
    trace.events().map(preceding).collect()
}

fn barrier_generations(trace: &Trace) -> (FxHashMap<(BarrierId, u64), usize>, Vec<Generation>) {
    let mut all: BTreeMap<(BarrierId, u64), Vec<EventId>> = BTreeMap::new();
    if trace.barrier_count() == 0 {
        return (FxHashMap::default(), Vec::new());
    }
    for event in trace.events() {
        match trace.op(event) {
            Op::Arrive { barrier, generation } => {
                all.entry((barrier, generation)).or_default().push(event);
            }
            Op::Leave { barrier, generation } => {
                all.entry((barrier, generation)).or_default();
            }
            _ => {}
        }
    }
    let mut generation_at = FxHashMap::default();
    let mut generations = Vec::new();
    let mut last = None;
    for (index, (key, arrivals)) in all.into_iter().enumerate() {
        let previous = last.filter(|(barrier, _)| *barrier == key.0).map(|(_, index)| index);
        generation_at.insert(key, index);
        generations.push(Generation { arrivals, previous });
        last = Some((key.0, index));
    }
    (generation_at, generations)
}

fn channel_ends(trace: &Trace) -> (Vec<u32>, Vec<u32>, Vec<EventId>) {
    let mut closes = vec![0; trace.channel_count()];
    let mut receiver_closes = closes.clone();
    let mut empties = Vec::new();
    if closes.is_empty() {
        return (closes, receiver_closes, Vec::new());
    }
    for event in trace.events() {
        match trace.op(event) {
            Op::Close(channel) => closes[channel.index()] += 1,
            Op::ReceiverClose(channel) => receiver_closes[channel.index()] += 1,
            Op::RecvEmpty(channel) => empties.push((event, channel, closes[channel.index()])),
            _ => {}
        }
    }
    let outlived = empties
        .into_iter()
        .filter(|(_, channel, seen)| *seen == closes[channel.index()])
        .map(|(event, ..)| event)
        .collect();
    (closes, receiver_closes, outlived)
}
