//! Which pairs could be races at all.
//!
//! Accesses of one variable that have thread, place in the program, kind and held locks in common
//! form a group. Pairs are weighed group by group first, so that what a common lock rules out costs
//! nothing a pair; the pairs that are left are enumerated on demand, near ones first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use racelog::trace::{LocId, ThreadId, VarId};
use rustc_hash::FxHashMap;

use super::super::must::MustOrder;
use crate::goal::Pair;
use crate::index::{LocksetId, Regions};
use crate::trace::{EventId, Trace};

/// Accesses that differ only in when they happen.
#[derive(Clone, Debug)]
struct Group {
    key: Key,
    events: Vec<EventId>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Key {
    var: VarId,
    /// Of mixed memory, the part.
    part: Option<VarId>,
    location: Option<LocId>,
    thread: ThreadId,
    writes: bool,
    atomic: bool,
    locks: LocksetId,
}

/// What the pairs of an entry have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Places {
    low: Option<LocId>,
    high: Option<LocId>,
    /// Without a place, every access stands for itself: that keeps variables apart.
    var: Option<VarId>,
}

/// The pairs that could be races, by signature.
#[derive(Debug, Default)]
pub struct Candidates {
    groups: Vec<Group>,
    /// For each signature, the pairs of groups whose pairs have it.
    signatures: Vec<Vec<(u32, u32)>>,
    /// How many other conflicting pairs are ruled out by a lock that both hold.
    pub locked: u64,
}

impl Candidates {
    /// The candidates of a trace; without those that hold a lock in common, if locks are used.
    pub fn new(trace: &Trace, regions: &Regions, use_locks: bool) -> Self {
        let mut by_key: FxHashMap<Key, u32> = FxHashMap::default();
        let mut groups: Vec<Group> = Vec::new();
        let mut walk = regions.walk();
        for event in trace.events() {
            let op = trace.op(event);
            let Some(var) = op.var() else { continue };
            if op.is_exclusive() {
                continue;
            }
            let thread = trace.thread(event);
            let key = Key {
                var,
                part: trace.accessed(event),
                location: trace.location(event),
                thread,
                writes: op.writes(),
                atomic: op.is_atomic(),
                locks: walk.held(thread, trace.position(event)),
            };
            let group = *by_key.entry(key).or_insert_with(|| {
                groups.push(Group { key, events: Vec::new() });
                (groups.len() - 1) as u32
            });
            groups[group as usize].events.push(event);
        }
        groups.sort_unstable_by_key(|group| group.key);
        let mut candidates = Self { groups, signatures: Vec::new(), locked: 0 };
        candidates.pair_groups(trace, use_locks.then_some(regions));
        candidates
    }

    fn pair_groups(&mut self, trace: &Trace, regions: Option<&Regions>) {
        let mut signatures: BTreeMap<Places, Vec<(u32, u32)>> = BTreeMap::new();
        let mut start = 0;
        while start < self.groups.len() {
            let var = self.groups[start].key.var;
            let count = self.groups[start..].partition_point(|group| group.key.var == var);
            for first in start..start + count {
                for second in first + 1..start + count {
                    let (a, b) = (&self.groups[first], &self.groups[second]);
                    if !conflict(&a.key, &b.key) || !trace.overlap(a.events[0], b.events[0]) {
                        continue;
                    }
                    let pairs = a.events.len() as u64 * b.events.len() as u64;
                    if regions.is_some_and(|held| held.sets().exclude(a.key.locks, b.key.locks)) {
                        self.locked += pairs;
                        continue;
                    }
                    let places = [a.key.location, b.key.location];
                    let (low, high) = (places[0].min(places[1]), places[0].max(places[1]));
                    let places = Places { low, high, var: low.is_none().then_some(var) };
                    let list = signatures.entry(places).or_default();
                    list.push((first as u32, second as u32));
                }
            }
            start += count;
        }
        self.signatures = signatures.into_values().collect();
    }

    /// How many signatures, or variables whose accesses have no place in the program, there are.
    pub fn len(&self) -> usize {
        self.signatures.len()
    }

    /// Whether there is no candidate.
    pub fn is_empty(&self) -> bool {
        self.signatures.is_empty()
    }

    /// The pairs of one entry that neither of two orders rules out, near ones first.
    pub fn pairs<'a>(
        &'a self,
        entry: usize,
        trace: &'a Trace,
        orders: [Option<&MustOrder>; 2],
    ) -> Pairs<'a> {
        let mut pairs =
            Pairs { candidates: self, trace, queue: BinaryHeap::new(), unordered: [0; 3] };
        for (first, second) in &self.signatures[entry] {
            pairs.add(orders, *first, *second);
        }
        pairs
    }
}

fn conflict(a: &Key, b: &Key) -> bool {
    a.thread != b.thread && (a.writes || b.writes) && !(a.atomic && b.atomic)
}

/// The pairs of a signature, near ones first.
#[derive(Debug)]
pub struct Pairs<'a> {
    candidates: &'a Candidates,
    trace: &'a Trace,
    queue: BinaryHeap<Reverse<Next>>,
    /// How many pairs there are, and how many each order, after those before it, leaves of them.
    pub unordered: [u64; 3],
}

/// The nearest partner that an access has left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Next {
    distance: usize,
    event: EventId,
    partner: EventId,
    group: u32,
    /// Which partners are left: those from `first` to before `low`, and those from `high` to before
    /// `end`, as places in their group.
    first: usize,
    low: usize,
    high: usize,
    end: usize,
}

impl Pairs<'_> {
    fn add(&mut self, orders: [Option<&MustOrder>; 2], first: u32, second: u32) {
        let groups = &self.candidates.groups;
        let (small, large) =
            if groups[first as usize].events.len() <= groups[second as usize].events.len() {
                (first, second)
            } else {
                (second, first)
            };
        let partners = &groups[large as usize];
        for event in &groups[small as usize].events {
            let events = &partners.events;
            let position = |partner: &EventId| self.trace.position(*partner);
            let (mut first, mut end) = (0, events.len());
            self.unordered[0] += (end - first) as u64;
            for (order, left) in orders.iter().zip(&mut self.unordered[1..]) {
                if let Some(order) = order {
                    let range = order.unordered(self.trace, *event, partners.key.thread);
                    let start = events.partition_point(|partner| position(partner) < range.start);
                    first = first.max(start);
                    end = end.min(events.partition_point(|partner| position(partner) < range.end));
                    end = end.max(first);
                }
                *left += (end - first) as u64;
            }
            let middle = events.partition_point(|partner| partner < event).clamp(first, end);
            self.push(*event, large, first, middle, middle, end);
        }
    }

    fn push(
        &mut self,
        event: EventId,
        group: u32,
        first: usize,
        low: usize,
        high: usize,
        end: usize,
    ) {
        let events = &self.candidates.groups[group as usize].events;
        let distance = |place: usize| events[place].index().abs_diff(event.index());
        let before = (low > first).then(|| (distance(low - 1), low - 1));
        let after = (high < end).then(|| (distance(high), high));
        let Some((distance, place)) = before.into_iter().chain(after).min() else { return };
        let (low, high) = if place < low { (place, high) } else { (low, place + 1) };
        let partner = events[place];
        self.queue.push(Reverse(Next { distance, event, partner, group, first, low, high, end }));
    }
}

impl Iterator for Pairs<'_> {
    type Item = Pair;

    fn next(&mut self) -> Option<Pair> {
        let Reverse(next) = self.queue.pop()?;
        self.push(next.event, next.group, next.first, next.low, next.high, next.end);
        Some(Pair::new(next.event, next.partner))
    }
}
