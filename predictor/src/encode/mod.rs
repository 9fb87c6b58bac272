//! The encoding: which prefixes of which executions are feasible, as a formula.
//!
//! Jeff Huang, Patrick O'Neil Meredith and Grigore Roșu, "Maximal Sound Predictive Race Detection
//! with Control Flow Abstraction" (PLDI 2014) order the events of a whole trace. Here a solution is
//! a *prefix*: a cut in each thread, an order of what lies before the cuts, and every event in it
//! enabled when its turn comes, of all threads. `docs/ALGORITHM.md` states the axioms and argues
//! that the solutions are exactly the feasible prefixes.
//!
//! One axiom family a file. An axiom is stated when the first event that it speaks of may be in the
//! prefix, and whatever event it speaks of may be in the prefix from then on: so the formula grows
//! from the goal that is asked about to what that goal can depend on, and no further. Axioms about
//! all pairs of something (two regions of a lock, a write between a write and its read, two
//! messages of a channel) are stated only once a solution breaks them, and all but the nearest
//! writes that a read may find once a solution asks for another: see [`Encoder::refine`].

mod barriers;
mod channels;
mod computed;
mod condvars;
mod exclusives;
mod foreign;
mod goals;
mod locks;
mod parking;
mod program_order;
mod query;
mod reads;
mod sources;
mod stalls;
mod switches;
mod window;

use std::collections::VecDeque;
use std::time::Instant;

use racelog::trace::ThreadId;
use rustc_hash::{FxHashMap, FxHashSet};

pub use self::query::{Forced, Query};
pub use self::window::Window;
use crate::goal;
use crate::index::Index;
use crate::solve::formula::{Formula, Lit};
use crate::solve::{Model, is_over};
use crate::trace::{EventId, Op, Trace};

/// How often the clock is looked at, in tasks.
const CHECK_EVERY: usize = 1024;

/// The feasible prefixes of a window, as a formula that grows as it is asked about.
#[derive(Debug)]
pub struct Encoder<'a> {
    trace: &'a Trace,
    index: &'a Index,
    window: &'a Window,
    model: goal::Model,
    formula: Formula,
    /// How far each thread's events may be in the prefix, and for how many of them that has been
    /// said.
    reach: Vec<usize>,
    reached: Vec<usize>,
    /// That an event is in the prefix.
    included: FxHashMap<EventId, Lit>,
    /// That a thread is clean after an event that reads or receives.
    clean: FxHashMap<EventId, Lit>,
    /// What is still to be said.
    tasks: VecDeque<Task>,
    sources: FxHashMap<EventId, sources::Sources>,
    computed: computed::Computed,
    stated: FxHashSet<Stated>,
    condvars: condvars::Stated,
    /// What has been said of stalls, if they have been asked about.
    stalls: Option<Box<stalls::Asked>>,
    /// What has been said of thread switches.
    bounds: Vec<switches::Bound>,
}

#[derive(Clone, Copy, Debug)]
enum Task {
    /// That a thread's events up to its reach may be in the prefix.
    Reach(ThreadId),
    /// What it takes for this event to be in the prefix.
    Included(EventId),
    /// What it takes for the thread to be clean after this event.
    Clean(EventId),
    /// What it takes for what this event computes to be known.
    Known(EventId),
    /// What it takes for what this event finds to be known.
    Found(EventId),
}

/// An axiom about a pair or triple that has been stated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Stated {
    Regions(u32, u32),
    Messages(EventId, EventId),
    Emptiness(EventId, EventId),
    Interference { source: Lit, read: EventId, between: EventId },
}

impl<'a> Encoder<'a> {
    /// The encoding of a window.
    pub fn new(trace: &'a Trace, index: &'a Index, window: &'a Window, model: goal::Model) -> Self {
        let reach: Vec<usize> =
            trace.threads().map(|thread| window.state.position(thread)).collect();
        Self {
            trace,
            index,
            window,
            model,
            formula: Formula::new(),
            reached: reach.clone(),
            reach,
            included: FxHashMap::default(),
            clean: FxHashMap::default(),
            tasks: VecDeque::new(),
            sources: FxHashMap::default(),
            computed: computed::Computed::default(),
            stated: FxHashSet::default(),
            condvars: condvars::Stated::default(),
            stalls: None,
            bounds: Vec::new(),
        }
    }

    /// What has been said so far.
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    /// That an event is in the prefix.
    fn included(&mut self, event: EventId) -> Lit {
        if event < self.window.start {
            return Lit::TRUE;
        }
        if event >= self.window.end {
            return Lit::FALSE;
        }
        if let Some(lit) = self.included.get(&event) {
            return *lit;
        }
        let thread = self.trace.thread(event);
        let reach = self.trace.position(event) + 1;
        if reach > self.reach[thread.index()] {
            self.reach[thread.index()] = reach;
            self.tasks.push_back(Task::Reach(thread));
        }
        // Left out unless something needs it: small prefixes are easier to order.
        let lit = self.formula.proposition(false);
        self.included.insert(event, lit);
        lit
    }

    /// That one event comes before another, if both are in the prefix.
    fn before(&mut self, a: EventId, b: EventId) -> Lit {
        let known = a.min(b) < self.window.start || self.trace.thread(a) == self.trace.thread(b);
        match known {
            true if a < b => Lit::TRUE,
            true => Lit::FALSE,
            false => self.formula.before(a, b),
        }
    }

    /// Orders two events of the window for good, in the order in which they were observed.
    fn order(&mut self, a: EventId, b: EventId) {
        if a >= self.window.start && self.trace.thread(a) != self.trace.thread(b) {
            self.formula.order(a, b);
        }
    }

    /// That a thread is clean when this event's turn comes.
    fn clean_before(&mut self, event: EventId) -> Lit {
        match self.index.input_before(event) {
            Some(input) => self.clean_after(input),
            None => Lit::TRUE,
        }
    }

    /// That a thread is clean after an event that reads or receives.
    fn clean_after(&mut self, event: EventId) -> Lit {
        if event < self.window.start || !self.model.has_values() {
            return Lit::TRUE;
        }
        if let Some(lit) = self.clean.get(&event) {
            return *lit;
        }
        let lit = self.formula.proposition(false);
        self.clean.insert(event, lit);
        self.tasks.push_back(Task::Clean(event));
        lit
    }

    /// That a thread has taken all its events, and the branch that may follow the last.
    fn finished(&mut self, thread: ThreadId) -> Vec<Lit> {
        let Some(last) = self.trace.events_of_thread(thread).last().copied() else {
            return Vec::new();
        };
        let mut finished = vec![self.included(last)];
        if self.trace.ends_guarded(thread) {
            // The implicit branch follows the last event because that one takes input.
            finished.push(self.clean_after(last));
        }
        finished
    }

    /// That all of these hold. Nothing is said of when they do not.
    fn all(&mut self, conditions: &[Lit]) -> Lit {
        match conditions {
            [] => Lit::TRUE,
            [condition] => *condition,
            _ if conditions.contains(&Lit::FALSE) => Lit::FALSE,
            _ => {
                let all = self.formula.proposition(false);
                self.formula.implies(&[all], conditions);
                all
            }
        }
    }

    /// States all that follows from what has been spoken of; `false` if the deadline is over first.
    fn state_axioms(&mut self, deadline: Option<Instant>) -> bool {
        let (mut count, mut checked) = (0, 0);
        while let Some(task) = self.tasks.pop_front() {
            match task {
                Task::Reach(thread) => {
                    // A thread can be long: a few events at a time.
                    let (from, to) = (self.reached[thread.index()], self.reach[thread.index()]);
                    let to = to.min(from + CHECK_EVERY);
                    for event in &self.trace.events_of_thread(thread)[from..to] {
                        self.included(*event);
                        self.tasks.push_back(Task::Included(*event));
                    }
                    self.reached[thread.index()] = to;
                    if to < self.reach[thread.index()] {
                        self.tasks.push_back(Task::Reach(thread));
                    }
                    count += to - from;
                }
                Task::Included(event) => self.state_enabled(event),
                Task::Clean(event) => reads::state_clean(self, event),
                Task::Known(event) => computed::state_known(self, event),
                Task::Found(event) => computed::state_found(self, event),
            }
            count += 1;
            if count - checked >= CHECK_EVERY {
                checked = count;
                if is_over(deadline) {
                    return false;
                }
            }
        }
        true
    }

    /// An event that is in the prefix was enabled when its turn came.
    fn state_enabled(&mut self, event: EventId) {
        program_order::state(self, event);
        exclusives::state(self, event);
        foreign::state(self, event);
        switches::state(self, event);
        let op = self.trace.op(event);
        if !self.model.has_all_synchronisation() && !matches!(op, Op::Join(_)) {
            return;
        }
        match op {
            Op::Join(thread) => program_order::state_join(self, event, thread),
            Op::Cas { .. } | Op::CasFail { .. } => {
                let clean = self.clean_after(event);
                self.state_passed(event, clean);
            }
            Op::Branch | Op::Check { .. } => {
                let clean = self.clean_before(event);
                self.state_passed(event, clean);
            }
            Op::AcquireFail(lock) => locks::state_failure(self, event, lock, false),
            Op::ReadAcquireFail(lock) => locks::state_failure(self, event, lock, true),
            Op::Wake { condvar, .. }
            | Op::WakeTimeout { condvar, .. }
            | Op::Wait { condvar, .. }
            | Op::NotifyOne { condvar, .. }
            | Op::NotifyAll(condvar) => condvars::state(self, event, condvar),
            Op::Park => parking::state_park(self, event),
            Op::ParkTimeout => parking::state_timeout(self, event),
            Op::Recv { channel, .. } => channels::state_receive(self, event, channel),
            Op::RecvEmpty(channel) => channels::state_empty(self, event, channel),
            Op::RecvClosed(channel) => channels::state_closed(self, event, channel),
            Op::Send { channel, .. } | Op::SendFull(channel) => {
                channels::state_send(self, event, channel);
            }
            Op::SendClosed { channel, .. } => {
                channels::state_send_closed(self, event, channel);
            }
            Op::Arrive { barrier, generation } => {
                barriers::state_arrival(self, event, barrier, generation);
            }
            Op::Leave { barrier, generation } => {
                barriers::state_departure(self, event, barrier, generation);
            }
            Op::Begin
            | Op::End
            | Op::Fork(_)
            | Op::Assert(_)
            | Op::AtomicBegin(_)
            | Op::AtomicEnd
            | Op::Fence(_)
            | Op::Read { .. }
            | Op::Load { .. }
            | Op::Write { .. }
            | Op::Store { .. }
            | Op::Rmw { .. }
            | Op::Exclusive { .. }
            | Op::Acquire(_)
            | Op::Release(_)
            | Op::ReadAcquire(_)
            | Op::ReadRelease(_)
            | Op::OnceBegin(_)
            | Op::OnceEnd(_)
            | Op::OnceWait(_)
            | Op::Unpark(_)
            | Op::Close(_)
            | Op::ReceiverClose(_) => {}
        }
    }

    /// An event that decides by what its thread has found: that was what it was, or lets it go on
    /// all the same.
    fn state_passed(&mut self, event: EventId, clean: Lit) {
        let included = self.included(event);
        match computed::passes(self, event).filter(|_| clean != Lit::TRUE) {
            Some(passes) => self.formula.clause(&[!included, passes, clean]),
            None => self.formula.implies(&[included], &[clean]),
        }
    }

    /// The events of a model's prefix, in its order.
    pub fn sequence(&self, model: &Model) -> Vec<EventId> {
        let mut sequence: Vec<EventId> = self
            .included
            .iter()
            .filter(|(_, included)| model.is_true(**included))
            .map(|(event, _)| *event)
            .collect();
        sequence.sort_unstable_by_key(|event| model.rank(*event));
        sequence
    }

    /// States the axioms that a model breaks.
    pub fn refine(
        &mut self,
        model: &Model,
        query: &mut Query,
        deadline: Option<Instant>,
    ) -> Refinement {
        let sequence = self.sequence(model);
        let before = self.formula.clause_count();
        locks::refine(self, &sequence);
        reads::refine(self, model, &sequence);
        if self.model.has_all_synchronisation() {
            channels::refine(self, &sequence);
        }
        computed::refine(self, model, &sequence);
        stalls::refine(self, model, &sequence);
        query::refine(self, query, model, &sequence);
        if !self.state_axioms(deadline) {
            Refinement::OutOfTime
        } else if self.formula.clause_count() > before {
            Refinement::More
        } else {
            Refinement::Feasible(sequence)
        }
    }
}

/// What looking at a model's sequence has brought.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refinement {
    /// It is a feasible prefix that answers the query.
    Feasible(Vec<EventId>),
    /// It breaks axioms, which are stated now.
    More,
    /// There was not enough time to say.
    OutOfTime,
}
