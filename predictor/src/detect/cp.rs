//! Causally-precedes: happens-before without the edges between critical sections that have nothing
//! to do with each other.
//!
//! Smaragdakis, Evans, Sadowski, Yi and Flanagan, "Sound Predictive Race Detection in Polynomial
//! Time" (POPL 2012). Causally-precedes is the smallest relation such that
//!
//! - (a) a release comes before a later acquire of the same lock if their critical sections contain
//!   conflicting accesses;
//! - (b) and also if their critical sections contain events of which one comes before the other;
//! - (c) what happens before something that comes before comes before, and likewise after.
//!
//! A race is a conflicting pair of different threads of which neither comes before the other.
//!
//! What the paper leaves open, or we do otherwise: whatever synchronises and is not a lock (fork
//! and join, messages, barriers, notifications, unparking, exclusive accesses) is a hard edge, and
//! part of the relation, as if both ends were critical sections with a conflict. So are the
//! atomics: of two atomic accesses of one variable of which one writes, the earlier comes before,
//! whatever their orderings. Sections that only read-lock a lock do not order each other. A wait
//! ends a section and its wake-up starts one.
//!
//! What is guaranteed of the first race is in docs/ALGORITHM.md; nothing is of the others. What is
//! missed: whatever lies further apart than a window, as in the paper, and whatever only control
//! flow can tell to be harmless.

use racelog::trace::LockId;

use super::sections::{Section, sections};
use super::{Collector, Findings, Limits, Scope};
use crate::goal::Pair;
use crate::goal::race::conflict;
use crate::order::{Edge, Edges, direct_edges};
use crate::trace::{EventId, Trace};

/// How many events are looked at together.
pub const WINDOW: usize = 2_000;

/// The pairs that causally-precedes leaves unordered, in windows of [`WINDOW`] events.
///
/// The time is polynomial in the window and linear in the number of windows. If there is more than
/// one, [`Limits::windows`] says so.
pub fn races(trace: &Trace, scope: Scope) -> Findings {
    races_in_windows(trace, scope, WINDOW)
}

/// The same, in windows of another size, which must not be 0.
///
/// A critical section that a window cuts counts as ordered with the other sections of its lock in
/// the window, so no pair is reported that would not be if the trace were looked at as a whole.
pub fn races_in_windows(trace: &Trace, scope: Scope, window: usize) -> Findings {
    let mut collector = Collector::new(trace, scope);
    let windows = each_window(trace, window, |window| {
        window.races(|pair| collector.add(pair));
        true
    });
    collector.finish(Limits { windows: (windows > 1).then_some(windows), ..Limits::default() })
}

/// The first race: of the pairs that end earliest, the one that begins latest. Of a trace that is
/// longer than [`WINDOW`] it is the first within a window.
pub fn first_race(trace: &Trace) -> Option<Pair> {
    let mut first = None;
    each_window(trace, WINDOW, |window| {
        window.races(|pair| first = first.or(Some(pair)));
        first.is_none()
    });
    first
}

/// Goes through the windows as long as `visit` says so; how many there are.
fn each_window(trace: &Trace, size: usize, mut visit: impl FnMut(&Window<'_>) -> bool) -> usize {
    let hard = direct_edges(trace, Edges::HARD);
    let all = direct_edges(trace, Edges { locks: true, ..Edges::HARD });
    let sections = sections(trace);
    // For each lock, where the sections begin that are not over.
    let mut current = vec![0; trace.lock_count()];
    for start in (0..trace.len()).step_by(size) {
        let end = trace.len().min(start + size);
        let within = |edges: &[Edge]| {
            let ends_before = |limit| edges.partition_point(|edge| edge.to.index() < limit);
            let edges = edges[ends_before(start)..ends_before(end)].iter();
            edges.filter(|edge| edge.from.index() >= start).copied().collect()
        };
        let mut window = Window::new(trace, start, end, within(&all), within(&hard));
        let mut locks: Vec<LockId> =
            window.events().filter_map(|event| trace.op(event).lock()).collect();
        locks.sort_unstable();
        locks.dedup();
        let mut present = Vec::new();
        for lock in locks {
            let (sections, current) = (&sections[lock.index()], &mut current[lock.index()]);
            let over = |section: &Section| section.end.is_some_and(|end| end.index() < start);
            while sections.get(*current).is_some_and(over) {
                *current += 1;
            }
            let starting = sections.partition_point(|section| section.start.index() < end);
            present.push(&sections[*current..starting]);
        }
        window.close(&present);
        if !visit(&window) {
            break;
        }
    }
    trace.len().div_ceil(size)
}

/// A stretch of the trace, and what comes before what in it.
struct Window<'a> {
    trace: &'a Trace,
    start: usize,
    end: usize,
    /// Edges of happens-before between threads, by where they end.
    edges: Vec<Edge>,
    /// Those that are hard.
    hard: Vec<Edge>,
    /// Edges by the rules (a) and (b).
    ruled: Vec<Edge>,
    /// For each event: what happens before it.
    happens: Rows,
    /// For each event: what causally precedes it.
    precedes: Rows,
}

impl<'a> Window<'a> {
    fn new(trace: &'a Trace, start: usize, end: usize, edges: Vec<Edge>, hard: Vec<Edge>) -> Self {
        let rows = Rows::new(end - start);
        let (happens, precedes, ruled) = (rows.clone(), rows, Vec::new());
        let mut window = Self { trace, start, end, edges, hard, ruled, happens, precedes };
        let mut edges = window.edges.iter().peekable();
        for event in (start..end).map(EventId::from_index) {
            let row = event.index() - start;
            if let Some(previous) = previous(trace, event).filter(|previous| *previous >= start) {
                window.happens.add_upto(row, previous - start);
            }
            while let Some(edge) = edges.next_if(|edge| edge.to == event) {
                window.happens.add_upto(row, edge.from.index() - start);
            }
        }
        window
    }

    /// Finds the smallest relation that keeps the rules.
    fn close(&mut self, sections: &[&[Section]]) {
        loop {
            self.compose();
            let mut found = Vec::new();
            for sections in sections {
                self.apply_rules(sections, &mut found);
            }
            if found.is_empty() {
                return;
            }
            self.ruled.extend(found);
            self.ruled.sort_unstable();
        }
    }

    /// Rule (c), for the edges known so far.
    fn compose(&mut self) {
        let mut edges = self.edges.iter().peekable();
        let mut hard = self.hard.iter().peekable();
        let mut ruled = self.ruled.iter().peekable();
        for event in (self.start..self.end).map(EventId::from_index) {
            let row = event.index() - self.start;
            let own = previous(self.trace, event).filter(|previous| *previous >= self.start);
            if let Some(previous) = own {
                self.precedes.add_row(row, previous - self.start);
            }
            while let Some(edge) = edges.next_if(|edge| edge.to == event) {
                self.precedes.add_row(row, edge.from.index() - self.start);
            }
            for given in [&mut hard, &mut ruled] {
                while let Some(edge) = given.next_if(|edge| edge.to == event) {
                    let from = edge.from.index() - self.start;
                    self.precedes.add_row_of(row, &self.happens, from);
                    self.precedes.insert(row, from);
                }
            }
        }
    }

    /// Rules (a) and (b), for the sections of one lock. A section that is ordered with one is, by
    /// rule (c), ordered with all later ones of that thread.
    fn apply_rules(&self, sections: &[Section], found: &mut Vec<Edge>) {
        let inside = sections.partition_point(|section| section.start.index() < self.start);
        for (at, first) in sections.iter().enumerate() {
            let Some(end) = first.end.filter(|end| self.contains(*end)) else { continue };
            let mut ordered = vec![first.thread];
            for second in &sections[inside.max(at + 1)..] {
                let excluded = first.exclusive || second.exclusive;
                if !excluded || second.start < end || ordered.contains(&second.thread) {
                    continue;
                }
                if self.precedes(end, second.start) {
                    ordered.push(second.thread);
                } else if self.rules_apply(first, second) {
                    ordered.push(second.thread);
                    found.push(Edge { to: second.start, from: end });
                }
            }
        }
    }

    /// Rule (b) asks for any two events; if there are such, the first of the one section and the
    /// last of the other are, by rule (c).
    fn rules_apply(&self, first: &Section, second: &Section) -> bool {
        let cut = !self.contains(first.start) || !self.contains(second.last);
        cut || first.conflicts(second) || self.precedes(first.start, second.last)
    }

    fn events(&self) -> impl Iterator<Item = EventId> + use<> {
        (self.start..self.end).map(EventId::from_index)
    }

    fn contains(&self, event: EventId) -> bool {
        (self.start..self.end).contains(&event.index())
    }

    fn precedes(&self, a: EventId, b: EventId) -> bool {
        self.precedes.contains(b.index() - self.start, a.index() - self.start)
    }

    /// The races, by their later access; of those, the latest earlier one first.
    fn races(&self, mut found: impl FnMut(Pair)) {
        for second in self.events() {
            let Some(var) = self.trace.op(second).var() else { continue };
            let accesses = self.trace.events_of_var(var);
            let earlier = &accesses[..accesses.partition_point(|access| *access < second)];
            for first in earlier.iter().rev().take_while(|access| self.contains(**access)) {
                if conflict(self.trace, *first, second) && !self.precedes(*first, second) {
                    found(Pair::new(*first, second));
                }
            }
        }
    }
}

/// The index of the event before one in its thread.
fn previous(trace: &Trace, event: EventId) -> Option<usize> {
    let at = trace.position(event).checked_sub(1)?;
    Some(trace.events_of_thread(trace.thread(event))[at].index())
}

/// A set of events for each event of a window, as bits.
#[derive(Clone)]
struct Rows {
    /// How many words a set takes.
    words: usize,
    bits: Vec<u64>,
}

impl Rows {
    fn new(events: usize) -> Self {
        let words = events.div_ceil(64);
        Self { words, bits: vec![0; words * events] }
    }

    fn insert(&mut self, row: usize, event: usize) {
        self.bits[row * self.words + event / 64] |= 1 << (event % 64);
    }

    fn contains(&self, row: usize, event: usize) -> bool {
        self.bits[row * self.words + event / 64] & 1 << (event % 64) != 0
    }

    /// Adds all of the row of an earlier event.
    fn add_row(&mut self, row: usize, earlier: usize) {
        let (low, high) = self.bits.split_at_mut(row * self.words);
        merge(&mut high[..self.words], &low[earlier * self.words..][..self.words]);
    }

    /// Adds an earlier event and all of its row.
    fn add_upto(&mut self, row: usize, earlier: usize) {
        self.add_row(row, earlier);
        self.insert(row, earlier);
    }

    /// Adds a row of other sets.
    fn add_row_of(&mut self, row: usize, other: &Self, other_row: usize) {
        let words = self.words;
        let source = &other.bits[other_row * words..][..words];
        merge(&mut self.bits[row * words..][..words], source);
    }
}

fn merge(target: &mut [u64], source: &[u64]) {
    for (target, source) in target.iter_mut().zip(source) {
        *target |= source;
    }
}
