//! The events and orders that a goal forces: no, if they are a contradiction; yes, if the forced
//! events, as near to the observed order as they can be, are a run that the checker accepts.
//!
//! It is the closure of A. Pavlogiannis, "Fast, Sound and Effectively Complete Dynamic Race
//! Prediction" (POPL 2020), for the maximal model: only what is forced is in it, and reads need
//! their values only where a thread decides by them. The rules add events and edges to a partial
//! order until nothing new follows. An event *is needed* if it is in every feasible prefix that
//! ends in the goal.
//!
//! 1. **The goal.** The events that the goal says have happened are needed, in their order. Of the
//!    thread of each next event, what comes before that event is needed, and nothing else can be
//!    (`close`, `limits`). Where the event need not be enabled, its own needs are none (`request`).
//! 2. **Program order.** With an event, all before it in its thread is needed (`include`).
//! 3. **What all executions share.** What an event needs by the must orders is needed, and comes
//!    before it (`reach`).
//! 4. **Branches.** A thread that passes a branch, implicit or recorded, a compare-exchange, or its
//!    end if that is joined and guarded, is clean there (`reach`, `follow_event`).
//! 5. **Messages.** A thread that is clean after a receive got a message of a sender that was
//!    clean, and the send comes before (`follow_clean`).
//! 6. **Values.** A thread that is clean after a read has found its value there. If one write alone
//!    can have given it, that write is needed, comes before the read, and its thread was clean
//!    (`follow_read`, `put_between`). If no write can have, that is a contradiction.
//! 7. **Other writes.** If a read has one source, every other write of the variable comes before
//!    the source or after the read (`put_between`).
//! 8. **Common needs.** If several writes can have given a value, what all of them have before them
//!    comes before the read (`need_common`).
//! 9. **Locks.** Of two regions of a lock that exclude each other, one of which has to begin before
//!    the other ends, the first is over before the second begins; a region that cannot end comes
//!    last (`follow_region`).
//!
//! Soundness of *no*: each rule adds only what holds in every feasible prefix that ends in the
//! goal. Events that are not in such a prefix count as coming after all that are. *Yes* is for the
//! checker to say.

mod linearize;
mod partial_order;

use std::time::Instant;

use racelog::trace::{ThreadId, VarId};

use self::partial_order::{Contradiction, Event, PartialOrder};
use super::must::MustOrder;
use super::writes::Writes;
use crate::encode::Forced;
use crate::goal::Goal;
use crate::index::Index;
use crate::solve::is_over;
use crate::trace::{EventId, Op, Trace, ValueId};
use crate::witness::{self, Checker, Witness};

/// How often the clock is looked at, in steps.
const CHECK_EVERY: usize = 4096;
/// How many threads there may be.
const MOST_THREADS: usize = 64;
/// How many edges are followed; they take space.
const MOST_EDGES: usize = 1 << 23;
/// From here on a trace is long: with care each read takes its time.
const LONG: usize = 1 << 20;
/// How thoroughly the sources of a read are looked for: in long traces, so that most pairs are
/// decided soon; then so that nearly all are that can be.
const CARES: [Care; 2] = [Care { writes: 16, sources: 8 }, Care { writes: 300, sources: 64 }];

/// How thoroughly the sources of a read are looked for. Of a read for which this is not enough,
/// nothing follows.
#[derive(Clone, Copy, Debug)]
struct Care {
    /// How many writes of a thread are looked at to see whether the read can find one of them.
    writes: usize,
    /// Of how many sources what they have in common is looked for.
    sources: usize,
}

/// What the closure of a goal says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Closed {
    /// Some execution reaches it.
    Proven(Witness),
    /// None does.
    Impossible,
    /// Neither follows; this does.
    Open(Forced),
    /// There was not enough time, or too much to follow.
    Unfinished,
}

/// What closures of a trace need to know of it.
#[derive(Clone, Copy, Debug)]
pub struct Closures<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// Its index.
    pub index: &'a Index,
    /// Its writes.
    pub writes: &'a Writes,
    /// Orders that all its executions share.
    pub orders: [Option<&'a MustOrder>; 2],
}

impl Closures<'_> {
    /// Whether some execution reaches a goal, as far as its closure tells.
    pub fn decide(&self, goal: &Goal, checker: &Checker<'_>, deadline: Option<Instant>) -> Closed {
        // An edge takes as many steps as there are pairs of threads.
        if self.trace.thread_count() > MOST_THREADS {
            return Closed::Unfinished;
        }
        let mut closure = Closure::new(*self, goal, deadline);
        let cares = if self.trace.len() > LONG { &CARES[..] } else { &CARES[1..] };
        let mut refused = None;
        for care in cares {
            closure.care = *care;
            match closure.close() {
                Err(Stop::Contradiction) => return Closed::Impossible,
                Err(Stop::Unfinished) => return Closed::Unfinished,
                Ok(()) => {}
            }
            // What has led to no witness leads to none again.
            let known = Some((closure.edges.len(), closure.included.clone()));
            if refused != known
                && let Some(witness) = closure.witness(checker)
            {
                return Closed::Proven(witness);
            }
            refused = known;
        }
        Closed::Open(closure.forced())
    }
}

/// A thread by its number.
fn id(thread: usize) -> ThreadId {
    ThreadId::new(thread as u32)
}

/// Why a closure ends before nothing new follows.
enum Stop {
    Contradiction,
    Unfinished,
}

impl From<Contradiction> for Stop {
    fn from(_: Contradiction) -> Self {
        Self::Contradiction
    }
}

/// What a goal forces.
struct Closure<'a> {
    context: Closures<'a>,
    goal: &'a Goal,
    deadline: Option<Instant>,
    care: Care,
    order: PartialOrder,
    /// How many events of each thread have to happen, and for how many of these that was followed.
    included: Vec<u32>,
    followed: Vec<u32>,
    /// How many can happen at most.
    limits: Vec<u32>,
    /// Up to where each thread has to be clean, and how far that was followed.
    clean: Vec<u32>,
    cleaned: Vec<u32>,
    /// The reads that have to find their values.
    reads: Vec<EventId>,
    /// The regions that have to begin.
    regions: Vec<u32>,
    /// Whether something new was found since this was last asked.
    news: bool,
    steps: usize,
    /// What the order was made of.
    edges: Vec<(Event, Event)>,
    /// What a thread has written last before a read, while that is looked at.
    last: Vec<Option<Event>>,
    /// Whom the read can find the value of; none is what was there at the start.
    sources: Vec<Option<Event>>,
}

impl<'a> Closure<'a> {
    fn new(context: Closures<'a>, goal: &'a Goal, deadline: Option<Instant>) -> Self {
        let trace = context.trace;
        let threads = trace.thread_count();
        let lengths = trace.threads().map(|thread| trace.events_of_thread(thread).len() as u32);
        let mut closure = Self {
            context,
            goal,
            deadline,
            care: CARES[0],
            order: PartialOrder::new(threads),
            included: vec![0; threads],
            followed: vec![0; threads],
            limits: lengths.collect(),
            clean: vec![0; threads],
            cleaned: vec![0; threads],
            reads: Vec::new(),
            regions: Vec::new(),
            news: false,
            steps: 0,
            edges: Vec::new(),
            last: vec![None; threads],
            sources: Vec::new(),
        };
        for next in goal.next() {
            let (thread, position) = closure.place(*next);
            closure.limits[thread] = position;
        }
        closure
    }

    fn place(&self, event: EventId) -> Event {
        let trace = self.context.trace;
        (trace.thread(event).index(), trace.position(event) as u32)
    }

    fn event(&self, (thread, position): Event) -> EventId {
        let thread = id(thread);
        self.context.trace.events_of_thread(thread)[position as usize]
    }

    /// The forced events in an order near the observed one, if the checker accepts that.
    fn witness(&self, checker: &Checker<'_>) -> Option<Witness> {
        let rest = witness::tidy(self.context.trace, &self.linearize());
        let witness = Witness { observed: 0, rest, goal: self.goal.clone() };
        checker.check(&witness).is_ok().then_some(witness)
    }

    /// What follows, without what it says of events that need not happen.
    fn forced(&self) -> Forced {
        let threads = self.included.iter().enumerate().filter(|(_, count)| **count > 0);
        let happen = |(thread, position): Event| position < self.included[thread];
        let edges = self.edges.iter().filter(|(a, b)| happen(*a) && happen(*b));
        Forced {
            included: threads.map(|(thread, count)| self.event((thread, count - 1))).collect(),
            edges: edges.map(|(a, b)| (self.event(*a), self.event(*b))).collect(),
        }
    }

    /// Adds all that follows, until nothing new does.
    fn close(&mut self) -> Result<(), Stop> {
        for event in self.goal.happened() {
            let (thread, position) = self.place(*event);
            self.include(thread, position + 1)?;
        }
        for pair in self.goal.happened().windows(2) {
            self.add(self.place(pair[0]), self.place(pair[1]))?;
        }
        for next in self.goal.next() {
            let next = self.place(*next);
            self.include(next.0, next.1)?;
            match self.goal.wants_enabled() {
                true => self.reach(next)?,
                false => self.request(next)?,
            }
        }
        loop {
            self.news = false;
            self.follow()?;
            for at in 0..self.reads.len() {
                self.step()?;
                self.follow_read(self.reads[at])?;
            }
            self.follow()?;
            for at in 0..self.regions.len() {
                self.step()?;
                self.follow_region(self.regions[at])?;
            }
            if !self.news {
                return Ok(());
            }
        }
    }

    fn step(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        let check = self.steps.is_multiple_of(CHECK_EVERY);
        if check && (is_over(self.deadline) || self.edges.len() > MOST_EDGES) {
            return Err(Stop::Unfinished);
        }
        Ok(())
    }

    /// So many events of a thread have to happen.
    fn include(&mut self, thread: usize, count: u32) -> Result<(), Contradiction> {
        if count > self.limits[thread] {
            return Err(Contradiction);
        }
        if count > self.included[thread] {
            self.included[thread] = count;
            self.news = true;
        }
        Ok(())
    }

    /// A thread has to be clean when the event at this place is its next.
    fn require_clean(&mut self, (thread, position): Event) {
        if position > self.clean[thread] {
            self.clean[thread] = position;
            self.news = true;
        }
    }

    fn add(&mut self, a: Event, b: Event) -> Result<(), Contradiction> {
        if self.order.add(a, b)? {
            self.edges.push((a, b));
            self.news = true;
        }
        Ok(())
    }

    /// An event of the prefix comes before another, and is in it for that.
    fn need(&mut self, a: Event, b: Event) -> Result<(), Contradiction> {
        self.include(a.0, a.1 + 1)?;
        self.add(a, b)
    }

    /// Follows what has to happen, and who has to be clean, through the threads.
    fn follow(&mut self) -> Result<(), Stop> {
        let mut more = true;
        while std::mem::take(&mut more) {
            for thread in 0..self.included.len() {
                while self.followed[thread] < self.included[thread] {
                    let place = (thread, self.followed[thread]);
                    self.followed[thread] += 1;
                    more = true;
                    self.step()?;
                    self.follow_event(place)?;
                }
                while self.cleaned[thread] < self.clean[thread] {
                    let place = (thread, self.cleaned[thread]);
                    self.cleaned[thread] += 1;
                    more = true;
                    self.step()?;
                    self.follow_clean(place)?;
                }
            }
        }
        Ok(())
    }

    /// What a thread needs to have an event as its next, whether or not it can take it.
    fn request(&mut self, place: Event) -> Result<(), Stop> {
        let trace = self.context.trace;
        let event = self.event(place);
        let fork = trace.fork_of(id(place.0)).filter(|_| place.1 == 0);
        for before in fork.iter().chain(trace.awaited(event)) {
            let before = self.place(*before);
            self.include(before.0, before.1 + 1)?;
        }
        if trace.is_guarded(event) {
            self.require_clean(place);
        }
        Ok(())
    }

    /// What a thread needs to have an event as its next, and to be able to take it.
    fn reach(&mut self, place: Event) -> Result<(), Stop> {
        let (thread, position) = place;
        let trace = self.context.trace;
        for order in self.context.orders.into_iter().flatten() {
            let number = id(thread);
            let Some(needed) = order.raised_at(number, position as usize) else { continue };
            for (other, count) in needed.iter().enumerate() {
                if other != thread && *count > 0 {
                    self.need((other, count - 1), place)?;
                }
            }
        }
        if trace.is_guarded(self.event(place)) {
            self.require_clean(place);
        }
        Ok(())
    }

    fn follow_event(&mut self, place: Event) -> Result<(), Stop> {
        self.reach(place)?;
        let trace = self.context.trace;
        let event = self.event(place);
        match trace.op(event) {
            // Who has a condition may pass it all the same.
            _ if trace.may_pass(event) => {}
            Op::Branch | Op::Check { .. } => self.require_clean(place),
            Op::Cas { .. } | Op::CasFail { .. } => self.require_clean((place.0, place.1 + 1)),
            Op::Join(child) if trace.ends_guarded(child) => {
                let length = trace.events_of_thread(child).len() as u32;
                self.require_clean((child.index(), length));
            }
            _ => {}
        }
        let regions = &self.context.index.regions;
        if let Some(region) = regions.at(event)
            && regions.get(region).acquire == event
        {
            self.regions.push(region);
        }
        Ok(())
    }

    /// The thread has to be clean after this event.
    fn follow_clean(&mut self, place: Event) -> Result<(), Stop> {
        let trace = self.context.trace;
        let event = self.event(place);
        let op = trace.op(event);
        if let Some(send) = self.context.index.send_of(trace, event) {
            let send = self.place(send);
            self.need(send, place)?;
            self.require_clean(send);
        }
        if let (Some(var), Some(_)) = (op.var(), op.found().copied())
            && !trace.is_mixed(var)
            && !trace.is_computed(var)
        {
            self.reads.push(event);
        }
        Ok(())
    }

    /// A read that has to find its value forces the write that gave it, if only one can have, and
    /// where the others go; if several can have, what they have in common.
    fn follow_read(&mut self, read: EventId) -> Result<(), Stop> {
        let place = self.place(read);
        let op = self.context.trace.op(read);
        let (Some(var), Some(value)) = (op.var(), op.found().copied()) else { return Ok(()) };
        if !self.find_sources(place, var, value) {
            return Ok(());
        }
        match self.sources[..] {
            [] => Err(Stop::Contradiction),
            [source] => Ok(self.put_between(place, source, var)?),
            _ => Ok(self.need_common(place)?),
        }
    }

    /// A read has one source: all other writes come before that or after the read.
    fn put_between(
        &mut self,
        read: Event,
        source: Option<Event>,
        var: VarId,
    ) -> Result<(), Contradiction> {
        if let Some(source) = source {
            self.need(source, read)?;
            let reads = self.context.trace.op(self.event(source)).reads();
            self.require_clean((source.0, source.1 + u32::from(reads)));
        }
        for thread in 0..self.last.len() {
            let first = match source {
                Some(source) => {
                    if let Some(last) = self.last[thread].filter(|last| *last != source) {
                        self.add(last, source)?;
                    }
                    self.order.first_after(source, thread)
                }
                None => Some(0),
            };
            let Some(first) = first else { continue };
            let list = self.context.writes.get(var, id(thread));
            let next = list.partition_point(|write| write.position < first);
            if let Some(next) = list.get(next).filter(|next| (thread, next.position) != read) {
                self.add(read, (thread, next.position))?;
            }
        }
        Ok(())
    }

    /// What all sources of a read need, and those that are of the same thread as all others.
    fn need_common(&mut self, read: Event) -> Result<(), Contradiction> {
        let Some(sources) = self.sources.iter().copied().collect::<Option<Vec<Event>>>() else {
            return Ok(());
        };
        for thread in 0..self.last.len() {
            if thread == read.0 {
                continue;
            }
            let counts = sources.iter().map(|source| match source.0 == thread {
                true => source.1 + 1,
                false => self.order.count_before(*source, thread),
            });
            let common = counts.min().unwrap_or(0);
            if common > self.order.count_before(read, thread) {
                self.need((thread, common - 1), read)?;
            }
        }
        Ok(())
    }

    /// Whom a read can find the value of: `sources`. Notes what each thread has written last before
    /// it. `false` if there are too many to tell.
    fn find_sources(&mut self, read: Event, var: VarId, value: ValueId) -> bool {
        let writes = self.context.writes;
        self.sources.clear();
        for thread in 0..self.last.len() {
            let list = writes.get(var, id(thread));
            let count = match list.is_empty() {
                true => 0,
                false => self.order.count_before(read, thread),
            };
            let before = list.partition_point(|write| write.position < count);
            self.last[thread] = before.checked_sub(1).map(|at| (thread, list[at].position));
        }
        let untouched = self.last.iter().all(Option::is_none);
        if untouched && self.context.trace.initial_value(var) == value {
            self.sources.push(None);
        }
        for thread in 0..self.last.len() {
            let list = writes.get(var, id(thread));
            let next = match self.last[thread] {
                Some((_, position)) => list.partition_point(|write| write.position <= position),
                None => 0,
            };
            if let Some(last) = self.last[thread]
                && list[next - 1].value == value
                && !self.is_hidden(last)
            {
                self.sources.push(Some(last));
            }
            if thread == read.0 || next == list.len() {
                continue;
            }
            let end = self.order.first_after(read, thread).unwrap_or(u32::MAX);
            let end = end.min(self.limits[thread]);
            for (looked_at, write) in list[next..].iter().enumerate() {
                if write.position >= end {
                    break;
                }
                if looked_at == self.care.writes || self.sources.len() > self.care.sources {
                    return false;
                }
                let place = (thread, write.position);
                if write.value == value && self.can_precede(place, read) {
                    self.sources.push(Some(place));
                }
            }
        }
        true
    }

    /// Whether what an event needs in every execution leaves it the chance to come before another.
    fn can_precede(&self, event: Event, other: Event) -> bool {
        let thread = id(event.0);
        self.context.orders.into_iter().flatten().all(|order| {
            let needed = order.needed(thread, event.1 as usize);
            needed.iter().enumerate().all(|(thread, count)| {
                let end =
                    if thread == event.0 { None } else { self.order.first_after(other, thread) };
                *count <= self.limits[thread] && end.is_none_or(|end| *count <= end)
            })
        })
    }

    /// Whether another thread's last write before a read comes after this one.
    fn is_hidden(&self, write: Event) -> bool {
        let others = self.last.iter().flatten();
        others.into_iter().any(|other| *other != write && self.order.is_before(write, *other))
    }

    /// A region that begins forces those to be over that have to begin before it ends.
    fn follow_region(&mut self, number: u32) -> Result<(), Stop> {
        let regions = &self.context.index.regions;
        let region = regions.get(number);
        let acquire = self.place(region.acquire);
        let release = region.release.map(|release| self.place(release));
        // A region that cannot end comes last.
        let release = release.filter(|(thread, position)| *position < self.limits[*thread]);
        for thread in self.context.trace.threads() {
            if thread == region.thread {
                continue;
            }
            let others = regions.of_lock_by(region.lock, thread);
            let begun = match release {
                Some(release) => self.order.count_before(release, thread.index()),
                None => u32::MAX,
            };
            let begun = begun.min(self.included[thread.index()]);
            let begins = |other: &u32| self.place(regions.get(*other).acquire).1 < begun;
            let count = others.partition_point(begins);
            let last = others[..count].iter().rev().map(|other| regions.get(*other));
            let Some(last) = last.into_iter().find(|other| region.excludes(other)) else {
                continue;
            };
            let Some(over) = last.release else { return Err(Stop::Contradiction) };
            self.need(self.place(over), acquire)?;
        }
        Ok(())
    }
}
