//! Who holds which lock when: the one place that follows locks through a trace.
//!
//! A *region* is a stretch of a thread's events during which it holds a lock. What a thread holds
//! at one of its events is a *lockset*; equal sets have equal ids.
//!
//! The state machine keeps its own account of locks in any execution, for it judges what is made of
//! this one.

use racelog::trace::{LockEffect, LockId, LockUse, ThreadId};
use rustc_hash::FxHashMap;

use super::locksets::{HeldLock, LocksetId, Locksets};
use super::lookup::EventMap;
use super::near;
use crate::trace::{EventId, Trace};

/// The regions of a lock that are a thread's, and where each begins.
#[derive(Debug, Default)]
struct OfBoth {
    numbers: Vec<u32>,
    begins: Vec<EventId>,
}

/// A stretch of a thread's events during which it holds a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// The thread.
    pub thread: ThreadId,
    /// The lock.
    pub lock: LockId,
    /// Whether others may share the lock.
    pub shared: bool,
    /// The event that takes the lock.
    pub acquire: EventId,
    /// The event that gives it back; none if the trace ends before.
    pub release: Option<EventId>,
}

impl Region {
    /// Whether two regions of one lock cannot be at the same time.
    pub fn excludes(&self, other: &Self) -> bool {
        self.thread != other.thread && !(self.shared && other.shared)
    }

    /// Whether the thread holds the lock when this event of its own is next.
    pub fn is_open_at(&self, event: EventId) -> bool {
        self.acquire < event && self.release.is_none_or(|release| event <= release)
    }
}

/// The regions that a thread is in, with what is known of each.
#[derive(Clone, Debug)]
struct Open<T>(Vec<(LockId, T)>);

impl<T> Default for Open<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Open<T> {
    fn begin(&mut self, lock: LockId, region: T) {
        self.0.push((lock, region));
    }

    /// Of several shared regions of one lock, it makes no difference which ends.
    fn end(&mut self, lock: LockId) -> Option<T> {
        let last = self.0.iter().rposition(|(held, _)| *held == lock)?;
        Some(self.0.remove(last).1)
    }
}

/// The regions that a thread is in after the first events of it, one for each lock, by their locks:
/// of a lock that is held twice the region that began last. Follows that thread alone; who asks for
/// many events has [`Regions`].
pub fn open_after(trace: &Trace, first_events: &[EventId]) -> Vec<Region> {
    let mut open: Open<Region> = Open::default();
    for event in first_events {
        let Some(LockUse { lock, shared, effect }) = trace.op(*event).lock_use() else { continue };
        match effect {
            LockEffect::Takes => {
                let thread = trace.thread(*event);
                let region = Region { thread, lock, shared, acquire: *event, release: None };
                open.begin(lock, region);
            }
            LockEffect::GivesBack => drop(open.end(lock)),
            LockEffect::FindsTaken | LockEffect::FindsFree => {}
        }
    }
    let mut regions: Vec<Region> = open.0.into_iter().rev().map(|(_, region)| region).collect();
    regions.sort_by_key(|region| region.lock);
    regions.dedup_by_key(|region| region.lock);
    regions
}

/// The regions of a trace, and what threads hold at their events.
#[derive(Debug)]
pub struct Regions {
    all: Vec<Region>,
    /// The regions of each lock, in the order in which they begin.
    of_lock: Vec<Vec<u32>>,
    /// The regions of each thread, in the order in which they begin.
    of_thread: Vec<Vec<u32>>,
    /// The regions of each lock and thread, in the order in which they begin.
    of_both: FxHashMap<(LockId, ThreadId), OfBoth>,
    /// The region that each event of a lock begins or ends.
    at: EventMap<u32>,
    sets: Locksets,
    /// For each thread, the positions at which the set changes, and what it is from there on.
    changes: Vec<Vec<(u32, LocksetId)>>,
    /// Of each lock, whether some region of it that shares it has no end, and some that does not.
    endless: Vec<[bool; 2]>,
}

impl Regions {
    /// Those of a trace.
    pub fn new(trace: &Trace) -> Self {
        let threads = trace.thread_count();
        let mut regions = Self {
            all: Vec::new(),
            of_lock: vec![Vec::new(); trace.lock_count()],
            of_thread: vec![Vec::new(); threads],
            of_both: FxHashMap::default(),
            at: EventMap::default(),
            sets: Locksets::new(),
            changes: vec![vec![(0, LocksetId::EMPTY)]; threads],
            endless: vec![[false; 2]; trace.lock_count()],
        };
        // What each thread holds, and the regions that it is in.
        let mut held: Vec<Vec<HeldLock>> = vec![Vec::new(); threads];
        let mut open: Vec<Open<u32>> = vec![Open::default(); threads];
        for event in trace.events() {
            let op = trace.op(event);
            let Some(used) = op.lock_use() else { continue };
            let thread = trace.thread(event);
            let (held, open) = (&mut held[thread.index()], &mut open[thread.index()]);
            let lock = HeldLock { lock: used.lock, exclusive: !used.shared };
            match (used.effect, held.binary_search(&lock)) {
                (LockEffect::Takes, Ok(at) | Err(at)) => {
                    open.begin(used.lock, regions.begin(thread, lock, event));
                    held.insert(at, lock);
                }
                (LockEffect::GivesBack, at) => {
                    if let Some(region) = open.end(used.lock) {
                        regions.all[region as usize].release = Some(event);
                        regions.at.insert(event, region);
                    }
                    if let Ok(at) = at {
                        held.remove(at);
                    }
                }
                // It holds the lock at no event, but others cannot have it there.
                (LockEffect::FindsFree, _) => {
                    let region = regions.begin(thread, lock, event);
                    regions.all[region as usize].release = Some(event);
                    continue;
                }
                (LockEffect::FindsTaken, _) => continue,
            }
            // What a thread takes, it holds from its next event on.
            let position = trace.position(event) as u32 + 1;
            let set = regions.sets.intern(held);
            regions.changes[thread.index()].push((position, set));
        }
        for (_, number) in open.iter().flat_map(|open| &open.0) {
            let region = regions.all[*number as usize];
            regions.endless[region.lock.index()][usize::from(!region.shared)] = true;
        }
        regions
    }

    fn begin(&mut self, thread: ThreadId, held: HeldLock, event: EventId) -> u32 {
        let number = self.all.len() as u32;
        let HeldLock { lock, exclusive } = held;
        let shared = !exclusive;
        self.all.push(Region { thread, lock, shared, acquire: event, release: None });
        self.of_lock[lock.index()].push(number);
        self.of_thread[thread.index()].push(number);
        let of_both = self.of_both.entry((lock, thread)).or_default();
        of_both.numbers.push(number);
        of_both.begins.push(event);
        self.at.insert(event, number);
        number
    }

    /// A region by its number.
    pub fn get(&self, number: u32) -> &Region {
        &self.all[number as usize]
    }

    /// The number of the region that an event begins or ends.
    pub fn at(&self, event: EventId) -> Option<u32> {
        self.at.get(&event).copied()
    }

    /// The regions of a lock, in the order in which they begin.
    pub fn of_lock(&self, lock: LockId) -> &[u32] {
        &self.of_lock[lock.index()]
    }

    /// The regions of a thread, in the order in which they begin.
    pub fn of_thread(&self, thread: ThreadId) -> &[u32] {
        &self.of_thread[thread.index()]
    }

    /// The regions of a lock that are a thread's, in the order in which they begin.
    pub fn of_lock_by(&self, lock: LockId, thread: ThreadId) -> &[u32] {
        self.of_both.get(&(lock, thread)).map_or(&[], |of_both| &of_both.numbers)
    }

    /// The regions of an event's thread that begin before the event, the last first.
    pub fn begun_before(
        &self,
        trace: &Trace,
        event: EventId,
    ) -> impl Iterator<Item = &Region> + use<'_> {
        let regions = self.of_thread(trace.thread(event));
        let begun = regions.partition_point(|number| self.get(*number).acquire < event);
        regions[..begun].iter().rev().map(|number| self.get(*number))
    }

    /// Whether some thread never gives a lock back, and keeps others out by that: those who want it
    /// for themselves, or those who would share it, too.
    pub fn is_kept(&self, lock: LockId, from_readers: bool) -> bool {
        let [shared, exclusive] = self.endless[lock.index()];
        exclusive || shared && !from_readers
    }

    /// Where a thread gives back a lock that it holds at an event.
    pub fn release_after(&self, trace: &Trace, lock: LockId, event: EventId) -> Option<EventId> {
        let OfBoth { numbers, begins } = self.of_both.get(&(lock, trace.thread(event)))?;
        let likely = near::likely(begins.len(), event.index(), trace.len());
        let begun = near::partition_point(begins, likely, |acquire| *acquire < event);
        self.get(numbers[begun.checked_sub(1)?]).release
    }

    /// What a thread holds when the event at this position is its next.
    pub fn held(&self, thread: ThreadId, position: usize) -> LocksetId {
        let changes = &self.changes[thread.index()];
        let last = changes.last().map_or(0, |(start, _)| *start as usize);
        let likely = near::likely(changes.len(), position, last);
        let after =
            near::partition_point(changes, likely, |(start, _)| *start as usize <= position);
        changes[after - 1].1
    }

    /// What an event's thread holds when the event is its next.
    pub fn held_at(&self, trace: &Trace, event: EventId) -> LocksetId {
        self.held(trace.thread(event), trace.position(event))
    }

    /// What a thread holds, for events in the trace's order, found without a search.
    pub fn walk(&self) -> HeldWalk<'_> {
        HeldWalk { regions: self, at: vec![0; self.changes.len()] }
    }

    /// What the ids of locksets stand for.
    pub fn sets(&self) -> &Locksets {
        &self.sets
    }
}

/// A walk through a trace that knows what threads hold.
#[derive(Debug)]
pub struct HeldWalk<'a> {
    regions: &'a Regions,
    /// For each thread, which of its changes was the last.
    at: Vec<usize>,
}

impl HeldWalk<'_> {
    /// What a thread holds when the event at this position is its next; the positions that are
    /// asked for do not fall.
    pub fn held(&mut self, thread: ThreadId, position: usize) -> LocksetId {
        let changes = &self.regions.changes[thread.index()];
        let at = &mut self.at[thread.index()];
        while changes.get(*at + 1).is_some_and(|(start, _)| *start as usize <= position) {
            *at += 1;
        }
        changes[*at].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
t acquire l
u racquire m
t write x 1
t acquire n
u racquire m
u write x 2
t release l
t write x 3
t release n
u rrelease m
u write x 4
t acquire l
t wait c l
u notify_one c t
t wake c l
t write x 5
";

    #[test]
    fn a_walk_finds_what_a_search_finds() {
        let trace: Trace = TEXT.parse().unwrap();
        let regions = Regions::new(&trace);
        let mut walk = regions.walk();
        for event in trace.events() {
            let (thread, position) = (trace.thread(event), trace.position(event));
            assert_eq!(walk.held(thread, position), regions.held(thread, position), "{event:?}");
        }
    }

    #[test]
    fn locks_that_are_never_given_back_are_known() {
        let trace: Trace = format!("{TEXT}u racquire m\nt racquire o\n").parse().unwrap();
        let regions = Regions::new(&trace);
        let locks: Vec<_> = ["l", "m", "n", "o"].iter().zip(0..).collect();
        for (name, lock) in locks {
            let lock = LockId::new(lock);
            for from_readers in [false, true] {
                let keeps = |number: &u32| {
                    let region = regions.get(*number);
                    region.release.is_none() && !(from_readers && region.shared)
                };
                let kept = regions.of_lock(lock).iter().any(keeps);
                assert_eq!(regions.is_kept(lock, from_readers), kept, "{name} {from_readers}");
            }
        }
        let [l, m, n] = [0, 1, 2].map(LockId::new);
        assert!(regions.is_kept(l, true) && regions.is_kept(m, false));
        assert!(!regions.is_kept(m, true) && !regions.is_kept(n, false));
    }

    #[test]
    fn sets_and_regions_agree() {
        let trace: Trace = TEXT.parse().unwrap();
        let regions = Regions::new(&trace);
        for event in trace.events() {
            let begun = regions.begun_before(&trace, event);
            let mut open: Vec<(LockId, bool)> = begun
                .filter(|region| region.is_open_at(event))
                .map(|region| (region.lock, !region.shared))
                .collect();
            open.sort_unstable();
            open.dedup();
            let set: Vec<_> = regions.sets().locks(regions.held_at(&trace, event)).collect();
            assert_eq!(set, open, "{event:?}");
        }
    }

    #[test]
    fn one_thread_alone_is_in_the_same_regions() {
        let trace: Trace = TEXT.parse().unwrap();
        let all = Regions::new(&trace);
        for event in trace.events() {
            let before = &trace.events_of_thread(trace.thread(event))[..trace.position(event)];
            let open = open_after(&trace, before);
            let open: Vec<_> = open.iter().map(|region| (region.lock, !region.shared)).collect();
            let set: Vec<_> = all.sets().locks(all.held_at(&trace, event)).collect();
            assert_eq!(open, set, "{event:?}");
        }
    }
}
