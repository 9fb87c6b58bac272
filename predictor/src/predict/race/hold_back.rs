//! The quick yes: the observed run again, with one thread held back.
//!
//! The thread of the earlier access stops right before it; everybody else goes on in the observed
//! order. Whoever needs what is now missing stops as well: who would read another value and then
//! decide by it, who wants a lock that a stopped thread holds, who waits for a stopped thread. If
//! the thread of the later access still gets there, the run so far is a witness. Where following an
//! object exactly would cost more than it is worth, whoever uses it stops: this can miss races, and
//! the checker has the last word.
//!
//! This is what makes most races cheap: it costs as many steps as the two accesses are apart.

use racelog::trace::{LockId, Object, ThreadId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::goal::{Goal, Pair};
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
    /// A witness that the checker accepts, if holding the earlier access's thread back gives one.
    pub fn prove(&self, pair: Pair, checker: &Checker<'_>) -> Option<Witness> {
        let mut rest = self.attempt(pair)?;
        // Witnesses are kept to the end, and can be as long as the trace.
        rest.shrink_to_fit();
        let witness = Witness { observed: pair.first().index(), rest, goal: Goal::Race(pair) };
        checker.check(&witness).is_ok().then_some(witness)
    }

    /// The events after the earlier access that happen before the later one when the earlier one's
    /// thread is held back; none if the later one is not reached. All before the earlier access
    /// happens as observed.
    pub fn attempt(&self, pair: Pair) -> Option<Vec<EventId>> {
        let (first, second) = (pair.first(), pair.second());
        let target = self.trace.thread(second);
        let mut run = Run {
            context: *self,
            first,
            stopped: vec![false; self.trace.thread_count()],
            unclean: vec![false; self.trace.thread_count()],
            values: FxHashMap::default(),
            blocked: FxHashMap::default(),
            touched: FxHashSet::default(),
        };
        run.stop(self.trace.thread(first), first);
        let mut kept = Vec::new();
        for index in first.index()..second.index() {
            let event = EventId::from_index(index);
            let thread = self.trace.thread(event);
            if !run.stopped[thread.index()] && !run.can(event) {
                run.stop(thread, event);
            }
            if run.stopped[thread.index()] {
                if thread == target {
                    return None;
                }
                run.leave_out(event);
            } else {
                run.take(event);
                kept.push(event);
            }
        }
        (!run.stopped[target.index()] && run.can(second)).then_some(kept)
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
            Op::Read { .. } | Op::Load { .. } | Op::Write { .. } | Op::Store { .. } => true,
            Op::Rmw { .. } | Op::Exclusive { .. } => true,
            Op::Release(_) | Op::ReadRelease(_) | Op::OnceEnd(_) | Op::Wait { .. } => true,
            Op::Unpark(_) | Op::NotifyOne { .. } | Op::NotifyAll(_) => true,
            Op::Close(_) | Op::ReceiverClose(_) => true,
            Op::Send { channel, .. } => {
                let bounded = trace.capacity(channel).is_some();
                !bounded || free(Object::Channel(channel))
            }
            Op::Branch => !unclean,
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
            | Op::SendClosed { channel, .. } => free(Object::Channel(channel)),
            Op::Arrive { barrier, .. } | Op::Leave { barrier, .. } => {
                free(Object::Barrier(barrier))
            }
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
