//! Whether a lock is poisoned: a variable of the trace.
//!
//! The variable is read each time that a thread takes the lock, for what the program does next may
//! depend on it. But nearly no lock is ever poisoned. As long as a lock is not, none of these reads
//! is written, for there is nothing that another order could change. Once the lock is poisoned, all
//! are, and the trace says which variable it is: a reader of the trace adds the earlier reads.
//!
//! A lock is poisoned by a thread that holds it exclusively. Every thread that takes the lock later
//! knows of it, and no thread that took it earlier does. So none of these reads is missing, and
//! none is there twice.

use std::sync::atomic::{AtomicU32, Ordering};

use super::lock::LockMeta;
use crate::rt::base::call_site::CallSite;
use crate::rt::base::ids::{NumberedId, counters};
use crate::rt::base::spin::Spin;
use crate::rt::log::session::newest_session;
use crate::rt::log::thread_log::ThreadLog;
use crate::rt::memory::cell_record::CellRecord;
use crate::rt::threads::attach::with;
use crate::trace::{MemoryOrdering, Op, Value, VarId};

/// The value of the variable while the lock is not poisoned.
const SOUND: Value = Value::Nat(0);

/// What the traces know of whether a lock is poisoned.
#[derive(Debug)]
pub(crate) struct Poison {
    var: NumberedId,
    /// The newest session at the time when the lock was first found or made poisoned; 0 if it never
    /// was. Sessions that began later record all reads.
    since: AtomicU32,
    flag: Spin<Flag>,
}

#[derive(Debug)]
struct Flag {
    record: CellRecord,
    /// The sessions whose traces say which lock the flag belongs to.
    told: Vec<u32>,
}

fn value(poisoned: bool) -> Value {
    Value::Nat(poisoned.into())
}

/// As in std: the lock itself orders the threads that take it.
const ORDERING: Option<MemoryOrdering> = Some(MemoryOrdering::Relaxed);

impl Poison {
    pub(in crate::rt) const fn new() -> Self {
        let flag = Flag { record: CellRecord::new(), told: Vec::new() };
        Self { var: NumberedId::new(), since: AtomicU32::new(0), flag: Spin::new(flag) }
    }

    /// Whether the lock was ever poisoned, as far as a thread that holds it can know.
    #[inline]
    pub(in crate::rt) fn was_ever(&self) -> bool {
        self.since.load(Ordering::Relaxed) != 0
    }

    fn var(&self) -> VarId {
        VarId::new(self.var.get(&counters::VARS))
    }

    fn is_poisoned(&self) {
        let newest = newest_session();
        let _ = self.since.compare_exchange(0, newest, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The calling thread has just taken the lock, and found it poisoned or not.
    #[cold]
    pub(in crate::rt) fn found(&self, lock: &LockMeta, poisoned: bool, here: Option<CallSite>) {
        self.load(lock, poisoned, here, |log, stamp, op| log.emit_by_the_way(stamp, op, here));
    }

    /// The program asked whether the lock is poisoned.
    pub(in crate::rt) fn looked(&self, lock: &LockMeta, poisoned: bool, here: Option<CallSite>) {
        self.load(lock, poisoned, here, |log, stamp, op| log.emit_decision(stamp, op, here));
    }

    /// Records a load of the variable by `emit`, while nothing else happens to it.
    fn load(
        &self,
        lock: &LockMeta,
        poisoned: bool,
        here: Option<CallSite>,
        emit: impl FnOnce(&ThreadLog, u64, Op),
    ) {
        with(|log| {
            if poisoned {
                self.is_poisoned();
            }
            let (var, value) = (self.var(), value(poisoned));
            let mut flag = self.flag.lock();
            self.explain(log, &mut flag, lock, value, here);
            flag.record.clock = log.tick(flag.record.clock);
            emit(log, flag.record.clock, Op::Load { var, value, ordering: ORDERING });
        });
    }

    /// The lock becomes poisoned, or no longer is.
    pub(in crate::rt) fn becomes(
        &self,
        lock: &LockMeta,
        poisoned: bool,
        before: bool,
        here: Option<CallSite>,
    ) {
        with(|log| {
            if poisoned || before {
                self.is_poisoned();
            }
            let (var, new) = (self.var(), value(poisoned));
            let mut flag = self.flag.lock();
            self.explain(log, &mut flag, lock, value(before), here);
            flag.record.emit(log, Op::Store { var, value: new, ordering: ORDERING }, here);
            flag.record.left(new);
        });
    }

    /// The lock is reached through the only reference to it.
    pub(in crate::rt) fn exclusive(&mut self, here: Option<CallSite>) {
        if self.var.is_given() {
            let var = self.var();
            let record = &mut self.flag.get_mut().record;
            with(|log| record.exclusive_as_it_is(log, var, here));
        }
    }

    /// Makes sure that the trace explains that the variable holds `value`, and says which earlier
    /// reads its readers have to add.
    fn explain(
        &self,
        log: &ThreadLog,
        flag: &mut Flag,
        lock: &LockMeta,
        value: Value,
        here: Option<CallSite>,
    ) {
        let (session, since) = (log.session_number(), self.since.load(Ordering::Relaxed));
        if session <= since && !flag.told.contains(&session) {
            flag.told.push(session);
            log.define_poison_flag(lock.id(), self.var());
            // The threads that took the lock in this session so far did not find it poisoned.
            flag.record.starts_as(log, SOUND);
        }
        flag.record.found(log, self.var(), value, here);
    }
}
