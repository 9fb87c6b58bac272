//! Threads that recorded threads spawn and join.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::attach::with;
use super::owned::{OWNED, ThreadEnd, new_log};
use crate::rt::base::call_site::CallSite;
use crate::rt::base::ids::counters;
use crate::rt::base::spin::Spin;
use crate::rt::log::kept_log::KeptLog;
use crate::rt::log::session::Session;
use crate::rt::memory::freeing::quiet;
use crate::trace::{BarrierId, LockId, MemoryOrdering, Op, Patience, ThreadId, Value, VarId};

/// A thread that is about to be spawned by a recorded one.
pub(crate) struct Child {
    log: Option<KeptLog>,
    shared: Arc<ChildShared>,
}

/// What parent and child both know of the child.
///
/// What the closure brings along and what it leaves behind pass from thread to thread, so each is
/// a variable of the trace.
#[derive(Debug)]
pub(crate) struct ChildShared {
    thread: ThreadId,
    session: Arc<Session>,
    brought: VarId,
    left: VarId,
    left_state: Spin<Left>,
    /// What the threads of its scope arrive at when their closures are done.
    scope: Option<BarrierId>,
    /// The child's clock at its end.
    ended: AtomicU64,
    joined: AtomicBool,
}

/// What is known of what a child leaves behind.
#[derive(Debug)]
struct Left {
    /// Whether it is there.
    done: bool,
    /// What it is, as the trace has it.
    value: Value,
    /// The clock of the last access, also of one that found nothing: the store comes after that.
    clock: u64,
}

/// What a closure leaves that returns nothing: it is the same whatever the thread has read.
const NOTHING: Value = Value::Nat(1);

/// A scope ends once.
const SCOPE: u64 = 0;

fn store(var: VarId, value: Value) -> Op {
    Op::Store { var, value, ordering: Some(MemoryOrdering::Release) }
}

fn load(var: VarId, value: Value) -> Op {
    Op::Load { var, value, ordering: Some(MemoryOrdering::Acquire) }
}

impl Child {
    /// Records the fork, if this thread is recorded. A thread of a scope says which.
    pub(crate) fn fork(
        name: Option<&str>,
        here: Option<CallSite>,
        scope: Option<&dyn Fn() -> BarrierId>,
    ) -> Option<Self> {
        with(|log| {
            let session = log.session().clone();
            let var = || VarId::new(counters::VARS.fetch_add(1, Ordering::Relaxed));
            let (brought, left) = (var(), var());
            log.emit_alone(store(brought, Value::Opaque), here);
            let _quiet = quiet();
            let stamp = log.tick(0);
            let child = new_log(&session, name, stamp);
            let thread = child.thread();
            log.emit(stamp, Op::Fork(thread), here);
            let shared = Arc::new(ChildShared {
                thread,
                session,
                brought,
                left,
                left_state: Spin::new(Left { done: false, value: Value::Opaque, clock: 0 }),
                scope: scope.map(|scope| scope()),
                ended: AtomicU64::new(0),
                joined: AtomicBool::new(false),
            });
            Self { log: Some(child), shared }
        })
    }

    pub(crate) fn shared(&self) -> Arc<ChildShared> {
        self.shared.clone()
    }

    /// Makes the calling thread, which is new, the child; records its beginning.
    pub(crate) fn begin(&mut self) {
        let Some(log) = self.log.take() else { return };
        let _ = OWNED.try_with(|owned| owned.install(log, Some(self.shared.clone())));
        with(|log| {
            log.emit_alone(Op::Begin, None);
            log.emit_alone(load(self.shared.brought, Value::Opaque), None);
        });
    }

    /// Records what the child leaves behind, or that this is nothing. Until the thread is gone more
    /// may follow.
    pub(crate) fn leave(&self, nothing: bool) {
        with(|log| {
            let mut left = self.shared.left_state.lock();
            left.clock = log.tick(left.clock);
            // A thread that says nothing of values has no use for it.
            if nothing && log.named() > 0 {
                left.value = NOTHING;
                log.emit_constant(left.clock, store(self.shared.left, NOTHING), None);
            } else {
                log.emit(left.clock, store(self.shared.left, Value::Opaque), None);
            }
            if let Some(barrier) = self.shared.scope {
                left.clock = log.tick(left.clock);
                log.emit_hidden(left.clock, Op::Arrive { barrier, generation: SCOPE });
            }
            left.done = true;
        });
    }
}

impl ThreadEnd for ChildShared {
    fn ended(&self, clock: u64) {
        self.ended.store(clock, Ordering::Release);
    }
}

impl ChildShared {
    /// The child as the traces know it: its session and its thread.
    pub(crate) fn recorded_as(&self) -> (u32, ThreadId) {
        (self.session.number(), self.thread)
    }

    /// The thread that calls this is about to wait for the child's end.
    pub(crate) fn awaits(&self, here: Option<CallSite>) {
        with(|log| {
            if Arc::ptr_eq(log.session(), &self.session) {
                log.request(Op::Join(self.thread), Patience::Forever, here);
            }
        });
    }

    /// Whether the child's closure is done, as far as that is recorded.
    pub(crate) fn has_left(&self) -> bool {
        self.left_state.lock().done
    }

    /// The thread that calls this has waited for the child's end.
    pub(crate) fn joined(&self, here: Option<CallSite>) {
        if self.joined.swap(true, Ordering::Relaxed) {
            return;
        }
        with(|log| {
            if Arc::ptr_eq(log.session(), &self.session) {
                let stamp = log.tick(self.ended.load(Ordering::Acquire));
                log.emit(stamp, Op::Join(self.thread), here);
                let value = self.left_state.lock().value;
                log.emit_alone(load(self.left, value), here);
            }
        });
    }

    /// The thread that calls this has waited until the closures of all these threads of a scope
    /// were done, in whatever order: it has found what each left behind. What destructors of
    /// thread-locals do may come later.
    pub(crate) fn awaited(children: &[Arc<Self>], here: Option<CallSite>) {
        with(|log| {
            let unjoined = children.iter().filter(|child| {
                Arc::ptr_eq(log.session(), &child.session)
                    && !child.joined.swap(true, Ordering::Relaxed)
            });
            let unjoined: Vec<&Arc<Self>> = unjoined.collect();
            if let Some(barrier) = unjoined.iter().find_map(|child| child.scope) {
                let recorded = children.iter().filter(|it| Arc::ptr_eq(log.session(), &it.session));
                let clocks = recorded.map(|child| child.left_state.lock().clock);
                let stamp = log.tick(clocks.max().unwrap_or(0));
                log.emit(stamp, Op::Leave { barrier, generation: SCOPE }, here);
            }
            // To wait for several is one operation.
            let several = unjoined.len() > 1;
            let whole =
                LockId::new(counters::LOCKS.fetch_add(u32::from(several), Ordering::Relaxed));
            if several {
                log.emit_hidden(log.tick(0), Op::Acquire(whole));
            }
            for child in unjoined {
                let mut left = child.left_state.lock();
                // One that was sent away has left nothing.
                if left.done {
                    left.clock = log.tick(left.clock);
                    log.emit_decision(left.clock, load(child.left, left.value), here);
                }
            }
            if several {
                log.emit_hidden(log.tick(0), Op::Release(whole));
            }
        });
    }

    /// The thread that calls this looks whether the child's closure is done; `finished` is what
    /// the system says. Gives back what the caller is told, which is what the trace says: a closure
    /// is done a little before the system knows, and a look in between must not be left out.
    pub(crate) fn looked(&self, finished: bool, here: Option<CallSite>) -> bool {
        let looked = with(|log| {
            if !Arc::ptr_eq(log.session(), &self.session) {
                return finished;
            }
            let mut left = self.left_state.lock();
            // A child whose end could not be recorded has left nothing, and is finished all the
            // same.
            if left.done || !finished {
                left.clock = log.tick(left.clock);
                let value = if left.done { left.value } else { Value::Nat(0) };
                log.emit_decision(left.clock, load(self.left, value), here);
            }
            left.done || finished
        });
        looked.unwrap_or(finished)
    }
}
