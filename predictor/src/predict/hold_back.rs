//! The quick yes: the observed run again, with some threads held back.
//!
//! The threads of a goal stop right before the events that are to be next; all others go on in the
//! observed order. A thread that needs what is now missing stops as well: one that would read
//! another value and then decide by it, one that wants a lock that a stopped thread holds, one that
//! waits for a stopped thread. If every thread of the goal gets as far as it should, the run so far
//! is a witness. Where following an object exactly would cost more than it is worth, the thread
//! that uses it stops: this can miss goals, and the checker has the last word.
//!
//! This is what makes most goals cheap: it costs as many steps as their events are apart.

use racelog::trace::{LockId, Object, ThreadId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::goal::Goal;
use crate::index::Index;
use crate::trace::{EventId, Op, Trace, ValueId};
use crate::witness::{Checker, Witness};

/// What the attempt needs to know of a trace.
#[derive(Clone, Copy, Debug)]
pub struct HoldBack<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// Its index.
    pub index: &'a Index,
}

impl HoldBack<'_> {
    /// A witness that the checker accepts, if holding the goal's threads back gives one.
    pub fn prove(&self, goal: &Goal, checker: &Checker<'_>) -> Option<Witness> {
        let mut rest = self.attempt(goal)?;
        // Witnesses are kept to the end, and can be as long as the trace.
        rest.shrink_to_fit();
        let observed = goal.next().first()?.index();
        let witness = Witness { observed, rest, goal: goal.clone() };
        checker.check(&witness).is_ok().then_some(witness)
    }

    /// How many events are looked at for a goal.
    pub fn steps(&self, goal: &Goal) -> usize {
        let first = goal.next().first().map_or(0, |event| event.index());
        self.end(goal).saturating_sub(first)
    }

    /// The index of the event before which the last of the goal's conditions holds, if any does.
    fn end(&self, goal: &Goal) -> usize {
        let last = goal.next().last().map_or(0, |event| event.index());
        match goal {
            Goal::SendToNobody(send) => match self.trace.op(*send) {
                Op::Send { channel, .. } => {
                    let closes = &self.index.channels[channel.index()].receiver_closes;
                    closes.last().map_or(last, |close| close.index() + 1)
                }
                _ => last,
            },
            Goal::Race(_)
            | Goal::Deadlock(_)
            | Goal::Stall(_)
            | Goal::FailedCheck(_)
            | Goal::Panic(_) => last,
            // The other thread's access has to come first.
            Goal::Atomicity(violation) => last.max(violation.between().index() + 1),
        }
    }

    /// The events from the first of the goal's on that happen when the threads of its next events
    /// are held back; none if one of these is not reached. All before happens as observed.
    pub fn attempt(&self, goal: &Goal) -> Option<Vec<EventId>> {
        let next = goal.next();
        let (first, last) = (*next.first()?, *next.last()?);
        let mut run = Run {
            context: *self,
            first,
            stopped: vec![false; self.trace.thread_count()],
            unclean: vec![false; self.trace.thread_count()],
            values: FxHashMap::default(),
            blocked: FxHashMap::default(),
            touched: FxHashSet::default(),
        };
        let mut kept = Vec::new();
        for index in first.index()..self.end(goal) {
            let event = EventId::from_index(index);
            let thread = self.trace.thread(event);
            let is_stopped = run.stopped[thread.index()];
            // Most goals have two events, and few have more than a handful.
            if next.contains(&event) {
                if is_stopped || !run.may_request(event) {
                    return None;
                }
                run.stop(thread, event);
            } else if !is_stopped && !run.can(event) {
                run.stop(thread, event);
                let is_asked = |next: &EventId| *next > event && self.trace.thread(*next) == thread;
                if next.iter().any(is_asked) {
                    return None;
                }
            }
            if run.stopped[thread.index()] {
                run.leave_out(event);
            } else {
                run.take(event);
                kept.push(event);
            }
        }
        let target = self.trace.thread(last);
        let arrives = || !run.stopped[target.index()] && run.may_request(last);
        let arrives = match goal {
            Goal::Race(_) => arrives() && run.can(last),
            Goal::Deadlock(_) | Goal::Stall(_) => arrives(),
            // Nothing was left out that they would miss: the observed run is looked at.
            Goal::FailedCheck(_) | Goal::Panic(_) => true,
            // It is the first as well, and was held back.
            Goal::SendToNobody(_) | Goal::Atomicity(_) => true,
        };
        arrives.then_some(kept)
    }
}

/// The run so far, as it differs from the observed one.
struct Run<'a> {
    context: HoldBack<'a>,
    /// What is held back.
    first: EventId,
    stopped: Vec<bool>,
    unclean: Vec<bool>,
    /// What variables hold that do not hold what they held in the observed run; none is unknown.
    values: FxHashMap<VarId, Option<ValueId>>,
    /// The locks that stopped threads hold, and whether one of them does so exclusively.
    blocked: FxHashMap<LockId, bool>,
    /// What something was left out on.
    touched: FxHashSet<Object>,
}

impl Run<'_> {
    fn stop(&mut self, thread: ThreadId, at: EventId) {
        let HoldBack { trace, index } = self.context;
        let regions = &index.regions;
        self.stopped[thread.index()] = true;
        let locks = regions.held(thread, trace.position(at));
        for (lock, exclusive) in regions.sets().locks(locks) {
            *self.blocked.entry(lock).or_default() |= exclusive;
        }
    }

    /// Whether a thread that has not stopped comes to its next event, whether or not it can take
    /// it.
    fn may_request(&self, event: EventId) -> bool {
        let trace = self.context.trace;
        !(trace.is_guarded(event) && self.unclean[trace.thread(event).index()])
    }

    /// Whether a thread that has not stopped can take its next event.
    fn can(&self, event: EventId) -> bool {
        let HoldBack { trace, index } = self.context;
        let thread = trace.thread(event);
        let unclean = self.unclean[thread.index()];
        if trace.is_guarded(event) && unclean {
            return false;
        }
        // Nothing of a foreign thread happens before all that was observed before it.
        let behind = trace.awaited(event).iter().any(|before| *before >= self.first);
        if behind || trace.is_foreign(thread) {
            return false;
        }
        let free = |object| !self.touched.contains(&object);
        let op = trace.op(event);
        if let Some(var) = op.var()
            && self.touched.contains(&Object::Var(var))
            && (op.is_exclusive() || index.exclusive_before(event).is_some())
        {
            return false;
        }
        match op {
            Op::Begin | Op::End | Op::Fork(_) | Op::Assert(_) | Op::Fence(_) => true,
            Op::AtomicBegin(_) | Op::AtomicEnd => true,
            Op::Read { .. } | Op::Load { .. } | Op::Write { .. } | Op::Store { .. } => true,
            Op::Rmw { .. } | Op::Exclusive { .. } => true,
            Op::Release(_) | Op::ReadRelease(_) | Op::OnceEnd(_) | Op::Wait { .. } => true,
            Op::Unpark(_) | Op::NotifyOne { .. } | Op::NotifyAll(_) => true,
            Op::Close(_) | Op::ReceiverClose(_) => true,
            Op::Send { channel, .. } => {
                let bounded = trace.capacity(channel).is_some();
                !bounded || free(Object::Channel(channel))
            }
            Op::Branch | Op::Check { .. } => !unclean,
            Op::Cas { var, .. } | Op::CasFail { var, .. } => {
                let finds = |value: &Option<ValueId>| value.as_ref() == op.found();
                !unclean && self.values.get(&var).is_none_or(finds)
            }
            Op::Join(child) => !self.stopped[child.index()] && !self.unclean_end(child),
            Op::Acquire(lock) | Op::OnceBegin(lock) => !self.blocked.contains_key(&lock),
            Op::ReadAcquire(lock) | Op::OnceWait(lock) => self.blocked.get(&lock) != Some(&true),
            Op::AcquireFail(lock) | Op::ReadAcquireFail(lock) => free(Object::Lock(lock)),
            Op::Wake { condvar, lock } | Op::WakeTimeout { condvar, lock } => {
                free(Object::Condvar(condvar)) && !self.blocked.contains_key(&lock)
            }
            Op::Park | Op::ParkTimeout => free(Object::Thread(thread)),
            Op::Recv { channel, .. }
            | Op::RecvEmpty(channel)
            | Op::RecvClosed(channel)
            | Op::SendClosed { channel, .. }
            | Op::SendFull(channel) => free(Object::Channel(channel)),
            Op::Arrive { barrier, generation } => {
                let before = index.previous_arrivals(barrier, generation);
                before.is_empty() || free(Object::Barrier(barrier))
            }
            Op::Leave { barrier, .. } => free(Object::Barrier(barrier)),
        }
    }

    /// Whether an implicit branch at a thread's end cannot be passed.
    fn unclean_end(&self, thread: ThreadId) -> bool {
        self.unclean[thread.index()] && self.context.trace.ends_guarded(thread)
    }

    fn take(&mut self, event: EventId) {
        let trace = self.context.trace;
        let thread = trace.thread(event).index();
        let op = trace.op(event);
        let Some(var) = op.var() else {
            // What an unclean thread sends is unknown.
            if let Op::Send { channel, .. } = op
                && self.unclean[thread]
            {
                self.touched.insert(Object::Channel(channel));
            }
            return;
        };
        if op.reads()
            && let Some(value) = self.values.get(&var)
        {
            self.unclean[thread] |= value.as_ref() != op.found();
        }
        if op.writes() {
            if self.unclean[thread] {
                self.values.insert(var, None);
            } else {
                self.values.remove(&var);
            }
        }
    }

    fn leave_out(&mut self, event: EventId) {
        let trace = self.context.trace;
        let op = trace.op(event);
        self.touched.extend(op.touches().map(|touch| touch.object));
        if let Some(var) = op.var().filter(|_| op.writes()) {
            self.keep_value(var, event);
        }
        if let Op::Fork(child) = op {
            self.stopped[child.index()] = true;
        }
    }

    /// A variable keeps what it holds where a write is left out.
    fn keep_value(&mut self, var: VarId, write: EventId) {
        let trace = self.context.trace;
        self.values.entry(var).or_insert_with(|| {
            let accesses = trace.events_of_var(var);
            let before = &accesses[..accesses.partition_point(|access| *access < write)];
            let last = before.iter().rev().find_map(|access| trace.op(*access).left().copied());
            Some(last.unwrap_or(trace.initial_value(var)))
        });
    }
}
