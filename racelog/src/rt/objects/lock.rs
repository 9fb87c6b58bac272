//! Locks: their identity, their logical clock, and their events.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::rt::base::call_site::CallSite;
use crate::rt::base::ids::{NumberedId, counters};
use crate::rt::base::spin::wait_a_little;
use crate::rt::log::thread_log::ThreadLog;
use crate::trace::{LockId, Op, Patience};

/// Identity and clock of a lock, exclusive or shared.
///
/// The state packs the clock and who holds the lock, as far as the trace knows: bit 0 for a writer,
/// bits 1 to 14 for the number of readers, the clock above bit 15. A failed attempt must be stamped
/// between the stamps of an acquire and of its release; since all of them go through this one word,
/// it is. Bit 15 is set while an event of the lock is being recorded: a thread that sees the effect
/// of the event must find it in the trace, however the process ends, or know that it is lost.
#[derive(Debug)]
pub(crate) struct LockMeta {
    pub(in crate::rt) id: NumberedId,
    state: AtomicU64,
    /// The session of the last holder: what other sessions do to a lock is not in this one's trace.
    session: AtomicU32,
}

const WRITER: u64 = 1;
const READER: u64 = 2;
const HOLDERS: u64 = BUSY - 1;
const BUSY: u64 = 1 << (CLOCK_SHIFT - 1);
const CLOCK_SHIFT: u32 = 16;

impl LockMeta {
    pub(crate) const fn new() -> Self {
        Self { id: NumberedId::new(), state: AtomicU64::new(0), session: AtomicU32::new(0) }
    }

    pub(crate) fn id(&self) -> LockId {
        LockId::new(self.id.get(&counters::LOCKS))
    }

    /// What the lock is known by under control.
    pub(crate) fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// The clock, for accesses that the type system knows to be exclusive.
    pub(crate) fn clock(&self) -> u64 {
        self.state.load(Ordering::Relaxed) >> CLOCK_SHIFT
    }

    /// The calling thread, which would have waited that long, has taken the lock exclusively.
    #[inline]
    pub(crate) fn acquired(&self, log: &ThreadLog, patience: Patience, here: Option<CallSite>) {
        // Callers know which it is when they are compiled.
        match patience {
            Patience::Forever => self.acquired_after_all(log, here),
            Patience::Try | Patience::Timed => self.acquired_in_time(log, patience, here),
        }
    }

    fn acquired_after_all(&self, log: &ThreadLog, here: Option<CallSite>) {
        self.takes(log);
        self.record(log, [Op::Acquire(self.id())], Patience::Forever, here, |_| Some(WRITER));
    }

    fn acquired_in_time(&self, log: &ThreadLog, patience: Patience, here: Option<CallSite>) {
        self.takes(log);
        self.record(log, [Op::Acquire(self.id())], patience, here, |_| Some(WRITER));
    }

    #[inline]
    fn takes(&self, log: &ThreadLog) {
        self.session.store(log.session_number(), Ordering::Relaxed);
        log.takes_lock();
    }

    /// The calling thread is about to give the exclusive lock back.
    pub(crate) fn releasing(&self, log: &ThreadLog, here: Option<CallSite>) {
        // If the trace does not know that it was taken, it was taken by a thread that was not
        // recorded then.
        let given_back = |holders: u64| (holders & WRITER != 0).then_some(holders & !WRITER);
        let op = Op::Release(self.id());
        if self.record(log, [op], Patience::Forever, here, given_back).is_some() {
            log.gives_lock_back();
        }
    }

    /// The calling thread, which would have waited that long, has taken the lock shared.
    #[inline]
    pub(crate) fn read_acquired(
        &self,
        log: &ThreadLog,
        patience: Patience,
        here: Option<CallSite>,
    ) {
        match patience {
            Patience::Forever => self.read_acquired_after_all(log, here),
            Patience::Try | Patience::Timed => self.read_acquired_in_time(log, patience, here),
        }
    }

    fn read_acquired_after_all(&self, log: &ThreadLog, here: Option<CallSite>) {
        self.takes(log);
        let op = Op::ReadAcquire(self.id());
        self.record(log, [op], Patience::Forever, here, |holders| Some(holders + READER));
    }

    fn read_acquired_in_time(&self, log: &ThreadLog, patience: Patience, here: Option<CallSite>) {
        self.takes(log);
        let op = Op::ReadAcquire(self.id());
        self.record(log, [op], patience, here, |holders| Some(holders + READER));
    }

    /// The calling thread is about to give the shared lock back.
    pub(crate) fn read_releasing(&self, log: &ThreadLog, here: Option<CallSite>) {
        let given_back = |holders: u64| holders.checked_sub(READER);
        let op = Op::ReadRelease(self.id());
        if self.record(log, [op], Patience::Forever, here, given_back).is_some() {
            log.gives_lock_back();
        }
    }

    /// The calling thread found the lock taken, and records so if the trace knows by whom.
    /// Otherwise the lock may have been free again, or be held by a thread that is about to record
    /// that: false.
    pub(crate) fn failed(&self, log: &ThreadLog, here: Option<CallSite>, shared: bool) -> bool {
        if self.session.load(Ordering::Relaxed) != log.session_number() {
            return false;
        }
        let blocking = if shared { WRITER } else { HOLDERS };
        let id = self.id();
        let op = if shared { Op::ReadAcquireFail(id) } else { Op::AcquireFail(id) };
        let same = |holders: u64| (holders & blocking != 0).then_some(holders);
        self.record(log, [op], Patience::Forever, here, same).is_some()
    }

    /// The calling thread found that it could take the lock, and records so, if it could in the
    /// trace, too: as if it took the lock and at once gave it back. Otherwise a thread has taken
    /// the lock since: false.
    #[cfg(feature = "lock_api")]
    pub(crate) fn found_free(&self, log: &ThreadLog, here: Option<CallSite>, shared: bool) -> bool {
        self.session.store(log.session_number(), Ordering::Relaxed);
        let (blocking, id) = (if shared { WRITER } else { HOLDERS }, self.id());
        let ops = if shared {
            [Op::ReadAcquire(id), Op::ReadRelease(id)]
        } else {
            [Op::Acquire(id), Op::Release(id)]
        };
        let same = |holders: u64| (holders & blocking == 0).then_some(holders);
        self.record(log, ops, Patience::Try, here, same).is_some()
    }

    /// The calling thread, a reader, found that it is not the only one, and records so if the trace
    /// knows of another: as if it gave its lock back, could not take it exclusively, and took it
    /// back. That is right if other writers are kept off by other means.
    #[cfg(feature = "lock_api")]
    pub(crate) fn upgrade_failed(&self, log: &ThreadLog, here: Option<CallSite>) -> bool {
        if self.session.load(Ordering::Relaxed) != log.session_number() {
            return false;
        }
        let id = self.id();
        let ops = [Op::ReadRelease(id), Op::AcquireFail(id), Op::ReadAcquire(id)];
        let same = |holders: u64| (holders > READER).then_some(holders);
        self.record(log, ops, Patience::Try, here, same).is_some()
    }

    /// The calling thread, which holds the lock, gives it back to wait, which `op` says, so long.
    /// Returns the stamp, which is also after `clock`.
    pub(crate) fn waiting(
        &self,
        log: &ThreadLog,
        clock: u64,
        (op, patience): (Op, Patience),
        here: Option<CallSite>,
    ) -> u64 {
        log.advance(log.clock().max(clock));
        let given_back = |holders: u64| Some(holders & !WRITER);
        self.record(log, [op], patience, here, given_back).expect("always")
    }

    /// The calling thread has the lock again after it waited, which `op` says. Returns the stamp,
    /// which is also after `clock`.
    pub(crate) fn woken(&self, log: &ThreadLog, clock: u64, op: Op, here: Option<CallSite>) -> u64 {
        self.session.store(log.session_number(), Ordering::Relaxed);
        log.advance(log.clock().max(clock));
        self.record(log, [op], Patience::Forever, here, |_| Some(WRITER)).expect("always")
    }

    /// Records events with stamps above the lock's clock and the thread's, and nothing of this lock
    /// between them, while the holders change as `change` says; not at all if it says `None`.
    /// Returns the last stamp.
    #[inline]
    fn record<const N: usize>(
        &self,
        log: &ThreadLog,
        ops: [Op; N],
        patience: Patience,
        here: Option<CallSite>,
        change: impl Fn(u64) -> Option<u64>,
    ) -> Option<u64> {
        let mut tries = 0;
        // Acquire: the thread that was busy before may have lost its event, and then it raised the
        // floor.
        let mut old = self.state.load(Ordering::Acquire);
        loop {
            if old & BUSY != 0 {
                wait_a_little(&mut tries);
                old = self.state.load(Ordering::Acquire);
                continue;
            }
            let holders = change(old & HOLDERS)?;
            let first = log.after(old >> CLOCK_SHIFT);
            let last = first + N as u64 - 1;
            let new = last << CLOCK_SHIFT | holders;
            let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
            match self.state.compare_exchange_weak(old, new | BUSY, success, failure) {
                Ok(_) => {
                    let _done = Done { state: &self.state, new };
                    for (stamp, op) in (first..).zip(ops) {
                        log.advance(stamp);
                        log.emit_with(stamp, op, patience, here);
                    }
                    return Some(last);
                }
                Err(now) => old = now,
            }
        }
    }
}

/// Sets the state of a lock when an event of it is recorded.
struct Done<'a> {
    state: &'a AtomicU64,
    new: u64,
}

impl Drop for Done<'_> {
    #[inline]
    fn drop(&mut self) {
        self.state.store(self.new, Ordering::Release);
    }
}
