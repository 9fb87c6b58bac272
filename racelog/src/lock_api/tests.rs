//! A lock of somebody's own that spins, as those of `spin` do, and a reader-writer lock: as they
//! are without the recorder, and recorded with it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{RawMutex, RawRwLock, lock_api};

/// How often it is locked: [`usize::MAX`] for a writer.
struct Spinning(AtomicUsize);

impl Spinning {
    fn change(&self, from: impl Fn(usize) -> Option<usize>) -> bool {
        self.0.fetch_update(Ordering::Acquire, Ordering::Relaxed, from).is_ok()
    }
}

// SAFETY: only who finds 0 takes it, and leaves another number until it is given back.
unsafe impl lock_api::RawMutex for Spinning {
    const INIT: Self = Self(AtomicUsize::new(0));

    type GuardMarker = lock_api::GuardSend;

    fn lock(&self) {
        while !lock_api::RawMutex::try_lock(self) {
            std::hint::spin_loop();
        }
    }

    fn try_lock(&self) -> bool {
        self.change(|now| (now == 0).then_some(usize::MAX))
    }

    unsafe fn unlock(&self) {
        self.0.store(0, Ordering::Release);
    }
}

// SAFETY: as above; readers count themselves.
unsafe impl lock_api::RawRwLock for Spinning {
    const INIT: Self = Self(AtomicUsize::new(0));

    type GuardMarker = lock_api::GuardSend;

    fn lock_shared(&self) {
        while !self.try_lock_shared() {
            std::hint::spin_loop();
        }
    }

    fn try_lock_shared(&self) -> bool {
        self.change(|now| (now != usize::MAX).then_some(now + 1))
    }

    unsafe fn unlock_shared(&self) {
        self.0.fetch_sub(1, Ordering::Release);
    }

    fn lock_exclusive(&self) {
        while !self.try_lock_exclusive() {
            std::hint::spin_loop();
        }
    }

    fn try_lock_exclusive(&self) -> bool {
        self.change(|now| (now == 0).then_some(usize::MAX))
    }

    unsafe fn unlock_exclusive(&self) {
        self.0.store(0, Ordering::Release);
    }
}

type Mutex<T> = lock_api::Mutex<RawMutex<Spinning>, T>;
type RwLock<T> = lock_api::RwLock<RawRwLock<Spinning>, T>;

#[test]
fn they_lock() {
    static SUM: Mutex<u32> = Mutex::const_new(<RawMutex<Spinning> as lock_api::RawMutex>::INIT, 0);
    let best = RwLock::new(0);
    thread::scope(|scope| {
        for number in 1..=4 {
            let best = &best;
            scope.spawn(move || {
                *SUM.lock() += number;
                let seen = *best.read();
                let mut best = best.write();
                *best = number.max(seen).max(*best);
            });
        }
    });
    assert_eq!((*SUM.lock(), *best.read()), (10, 4));
    let (held, shared) = (SUM.lock(), best.read());
    assert!(SUM.try_lock().is_none() && best.try_write().is_none() && best.try_read().is_some());
    drop((held, shared));
}

#[cfg(not(feature = "record"))]
#[test]
fn without_the_recorder_they_are_the_raw_locks_themselves() {
    use std::any::TypeId;

    assert_eq!(TypeId::of::<RawMutex<Spinning>>(), TypeId::of::<Spinning>());
    assert_eq!(TypeId::of::<RawRwLock<Spinning>>(), TypeId::of::<Spinning>());
}

#[cfg(feature = "record")]
mod recorded {
    use super::{Mutex, RwLock};
    use crate::child_trace::{events, in_child, replay};
    use crate::sched::{Explorer, Failure};
    use crate::thread;

    #[test]
    fn their_locks_are_in_the_trace() {
        if in_child() {
            let locks = (Mutex::new(0), RwLock::new(0));
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        *locks.0.lock() += *locks.1.read();
                        *locks.1.write() += 1;
                    });
                }
            });
            return;
        }
        let trace = events("lock_api::tests::recorded::their_locks_are_in_the_trace");
        replay(&trace);
        let count = |keyword| trace.iter().filter(|event| event.op.keyword() == keyword).count();
        // A writer takes two locks, and the end of a scope one.
        assert_eq!((count("racquire"), count("rrelease")), (3, 3));
        assert_eq!(count("acquire"), count("release"));
        assert!(count("acquire") >= 3 + 2 * 3);
    }

    #[test]
    fn under_control_they_wait_instead_of_spinning() {
        let failed = Explorer::new().schedules(200).check(|| {
            let locks = (Mutex::new(()), RwLock::new(()));
            thread::scope(|scope| {
                scope.spawn(|| {
                    let _first = locks.0.lock();
                    let _second = locks.1.write();
                });
                let _second = locks.1.read();
                let _first = locks.0.lock();
            });
        });
        let failed = failed.expect_err("some schedule fails");
        assert!(matches!(failed.failure, Failure::Deadlock { .. }), "{failed}");
    }
}
