//! Whether a lock is poisoned: a variable of the trace.
//!
//! Each time that somebody takes the lock it is read, for what the program does next may depend on it. But
//! nearly no lock is ever poisoned, and as long as one is not, nothing is written down of that, for there
//! is nothing that another order could change. Once it is poisoned, everything is, and the trace is told
//! which variable it is: whoever reads the trace adds what went before.
//!
//! A lock is poisoned by somebody who holds it alone. So whoever takes it after that knows of it, and nobody
//! who took it before does: none of these reads is missing, and none is there twice.

use std::sync::atomic::{AtomicU32, Ordering};

use super::cells::CellRecord;
use super::log::{Here, ThreadLog};
use super::meta::{LockMeta, NumberedId, Spin, counters};
use super::session::{newest_session, with};
use crate::trace::{MemoryOrdering, Op, Value, VarId};

/// What the variable holds while the lock is not poisoned.
const SOUND: Value = Value::Nat(0);

/// What the traces know of whether a lock is poisoned.
#[derive(Debug)]
pub(crate) struct Poison {
    var: NumberedId,
    /// The newest session there was when the lock was first found or made poisoned; 0 if it never was. Of
    /// sessions that began later everything is recorded.
    since: AtomicU32,
    flag: Spin<Flag>,
}

#[derive(Debug)]
struct Flag {
    record: CellRecord,
    /// The sessions whose traces know whose flag it is.
    told: Vec<u32>,
}

fn value(poisoned: bool) -> Value {
    Value::Nat(poisoned.into())
}

/// As std does it: the lock itself orders those who take it.
const ORDERING: Option<MemoryOrdering> = Some(MemoryOrdering::Relaxed);

impl Poison {
    pub(super) const fn new() -> Self {
        let flag = Flag { record: CellRecord::new(), told: Vec::new() };
        Self { var: NumberedId::new(), since: AtomicU32::new(0), flag: Spin::new(flag) }
    }

    /// Whether the lock was ever poisoned, so far as somebody who holds it can know.
    #[inline]
    pub(super) fn was_ever(&self) -> bool {
        self.since.load(Ordering::Relaxed) != 0
    }

    fn var(&self) -> VarId {
        VarId::new(self.var.get(&counters::VARS))
    }

    fn is_poisoned(&self) {
        let newest = newest_session();
        let _ = self.since.compare_exchange(0, newest, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whoever has just taken the lock found it so.
    #[cold]
    pub(super) fn found(&self, lock: &LockMeta, poisoned: bool, here: Here) {
        with(|log| {
            if poisoned {
                self.is_poisoned();
            }
            let (var, value) = (self.var(), value(poisoned));
            let mut flag = self.flag.lock();
            self.explain(log, &mut flag, lock, value, here);
            flag.record.clock = log.tick(flag.record.clock);
            let op = Op::Load { var, value, ordering: ORDERING };
            log.emit_finding(flag.record.clock, op, here);
        });
    }

    /// The program asked whether it is so.
    pub(super) fn looked(&self, lock: &LockMeta, poisoned: bool, here: Here) {
        with(|log| {
            if poisoned {
                self.is_poisoned();
            }
            let (var, value) = (self.var(), value(poisoned));
            let mut flag = self.flag.lock();
            self.explain(log, &mut flag, lock, value, here);
            flag.record.clock = log.tick(flag.record.clock);
            let op = Op::Load { var, value, ordering: ORDERING };
            log.emit_decision(flag.record.clock, op, here);
        });
    }

    /// The lock becomes poisoned, or no longer is.
    pub(super) fn becomes(&self, lock: &LockMeta, poisoned: bool, before: bool, here: Here) {
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

    /// The lock is reached by somebody who has it alone.
    pub(super) fn exclusive(&mut self, here: Here) {
        if self.var.is_given() {
            let var = self.var();
            let record = &mut self.flag.get_mut().record;
            with(|log| record.exclusive_as_it_is(log, var, here));
        }
    }

    /// Makes sure that the trace explains that the variable holds `value`, and that its readers know of
    /// what they have to add.
    fn explain(&self, log: &ThreadLog, flag: &mut Flag, lock: &LockMeta, value: Value, here: Here) {
        let (session, since) = (log.session_number(), self.since.load(Ordering::Relaxed));
        if session <= since && !flag.told.contains(&session) {
            flag.told.push(session);
            log.define_poison_flag(lock.id(), self.var());
            // Those who have taken the lock in this session so far have found it sound.
            flag.record.starts_as(log, SOUND);
        }
        flag.record.found(log, self.var(), value, here);
    }
}
