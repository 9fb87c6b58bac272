//! Locks with the data that they guard.

use std::sync::atomic::{AtomicU32, Ordering};

use super::lock::LockMeta;
use super::poison::Poison;
use crate::rt::base::call_site::CallSite;
use crate::rt::base::ids::{NumberedId, counters};
use crate::rt::log::thread_log::ThreadLog;
use crate::rt::threads::attach::with;
use crate::trace::{Op, Value, VarId};

/// A lock and the data that it guards.
///
/// It stands in the mirrors as a field, so that it is they that have no destructor of their own:
/// one would ask more of the lifetimes in what they guard than std's do.
#[derive(Debug)]
pub(crate) struct GuardedMeta {
    pub(crate) lock: LockMeta,
    data: NumberedId,
    /// The session whose trace says that the lock is fair; 0 for none.
    fair_in: AtomicU32,
    pub(crate) poison: Poison,
}

impl GuardedMeta {
    pub(crate) const fn new() -> Self {
        Self {
            lock: LockMeta::new(),
            data: NumberedId::new(),
            fair_in: AtomicU32::new(0),
            poison: Poison::new(),
        }
    }

    fn data(&self) -> VarId {
        VarId::new(self.data.get(&counters::VARS))
    }

    /// The lock is a fair one: while a thread waits to take it exclusively, others that want to
    /// share it wait, too. Called before each event of one that shares it.
    #[inline]
    pub(crate) fn is_fair(&self, log: &ThreadLog) {
        if self.fair_in.load(Ordering::Relaxed) != log.session_number() {
            log.define_fair(self.lock.id());
            self.fair_in.store(log.session_number(), Ordering::Relaxed);
        }
    }

    /// The calling thread, which holds the lock, reads the data.
    pub(crate) fn read(&self, here: Option<CallSite>) {
        with(|log| log.emit_alone(Op::Read { var: self.data(), value: Value::Opaque }, here));
    }

    /// The calling thread, which holds the lock exclusively, changes the data.
    pub(crate) fn write(&self, here: Option<CallSite>) {
        with(|log| {
            let (var, value) = (self.data(), Value::Opaque);
            log.emit_alone(Op::Read { var, value }, here);
            log.emit_alone(Op::Write { var, value }, here);
        });
    }

    /// The data is reached without the lock, through the only reference to it.
    pub(crate) fn exclusive(&mut self, here: Option<CallSite>) {
        if self.data.is_given() || self.lock.id.is_given() {
            let (var, clock) = (self.data(), self.lock.clock());
            with(|log| {
                let stamp = log.tick(clock);
                log.emit(stamp, Op::Exclusive { var, value: Value::Opaque }, here);
            });
        }
        self.poison.exclusive(here);
    }

    /// The calling thread has just taken the lock, found it poisoned or not, and may act on that.
    #[inline]
    pub(crate) fn found(&self, poisoned: bool, here: Option<CallSite>) {
        if poisoned || self.poison.was_ever() {
            self.poison.found(&self.lock, poisoned, here);
        }
    }

    /// The program asked whether the lock is poisoned, and may go by the answer.
    pub(crate) fn looked(&self, poisoned: bool, here: Option<CallSite>) {
        self.poison.looked(&self.lock, poisoned, here);
    }

    /// The calling thread, which holds the lock exclusively, poisons it. It may have been poisoned
    /// before.
    pub(crate) fn poisons(&self, before: bool, here: Option<CallSite>) {
        self.poison.becomes(&self.lock, true, before, here);
    }

    /// The lock is not poisoned from now on; it may not have been before.
    pub(crate) fn clears_poison(&self, before: bool, here: Option<CallSite>) {
        self.poison.becomes(&self.lock, false, before, here);
    }
}

impl Drop for GuardedMeta {
    fn drop(&mut self) {
        self.exclusive(None);
    }
}
