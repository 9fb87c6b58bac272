//! The locks under control.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Condvar, Mutex, RwLock, RwLockUpgradableReadGuard};
use crate::sched::{Explorer, Failure};
use crate::thread;

const HOUR: Duration = Duration::from_secs(3600);

fn explorer() -> Explorer {
    Explorer::new().schedules(200)
}

#[test]
fn a_deadlock_is_noticed_and_the_threads_go() {
    let failed = explorer().check(|| {
        let locks = Arc::new((Mutex::new(1), Mutex::new(2)));
        let other = thread::spawn({
            let locks = locks.clone();
            move || *locks.1.lock() + *locks.0.lock()
        });
        let first = locks.0.lock();
        let second = locks.1.lock();
        drop((first, second));
        other.join().expect("it does not panic");
    });
    let failed = failed.expect_err("some schedule fails");
    assert!(matches!(failed.failure, Failure::Deadlock { .. }), "{failed}");
}

#[test]
fn condvars_wait_and_time_out() {
    explorer()
        .check(|| {
            let state = (Mutex::new(0), Condvar::new());
            thread::scope(|scope| {
                let other = scope.spawn(|| {
                    *state.0.lock() += 1;
                    state.1.notify_all();
                });
                let mut value = state.0.lock();
                state.1.wait_while(&mut value, |value| *value == 0);
                // From here on nobody notifies.
                other.join().expect("it does not panic");
                assert!(state.1.wait_for(&mut value, HOUR).timed_out());
                assert!(state.1.wait_until(&mut value, Instant::now() + HOUR).timed_out());
            });
        })
        .expect("it is right");
}

/// Who waits on a condvar when the run is over has the lock again when it unwinds.
#[test]
fn who_waits_for_ever_is_a_deadlock_and_goes() {
    let failed = explorer().check(|| {
        let state = (Mutex::new(0), Condvar::new());
        state.1.wait(&mut state.0.lock());
    });
    assert!(matches!(failed.expect_err("it waits").failure, Failure::Deadlock { .. }));
}

#[test]
fn locks_are_shared_upgraded_tried_and_waited_for() {
    explorer()
        .check(|| {
            let lock = RwLock::new(0);
            let mutex = Mutex::new(());
            thread::scope(|scope| {
                scope.spawn(|| {
                    let guard = lock.upgradable_read();
                    let seen = *guard;
                    let mut guard = RwLockUpgradableReadGuard::upgrade(guard);
                    assert_eq!(*guard, seen);
                    *guard += 1;
                });
                scope.spawn(|| {
                    let _shared = lock.read();
                    // Nobody holds it for ever, so an hour is long enough.
                    assert!(mutex.try_lock_for(HOUR).is_some());
                });
                if let Some(mut guard) = lock.try_write() {
                    *guard += 10;
                }
                assert!(lock.try_read_for(HOUR).is_some());
                let _held = mutex.lock();
            });
            assert!([1, 11].contains(&*lock.read()));
        })
        .expect("it is right");
}

#[test]
fn time_runs_out_for_who_tries_to_lock_what_is_never_free() {
    explorer()
        .check(|| {
            let (lock, mutex) = (RwLock::new(0), Mutex::new(()));
            thread::scope(|scope| {
                let (shared, held) = (lock.read(), mutex.lock());
                let tried = scope.spawn(|| {
                    lock.try_write_for(HOUR).is_none() && mutex.try_lock_for(HOUR).is_none()
                });
                assert!(tried.join().expect("it does not panic"));
                drop((shared, held));
            });
        })
        .expect("it is right");
}
