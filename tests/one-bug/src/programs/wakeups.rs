//! Lost wake-ups.

use super::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use super::sync::{Condvar, Mutex};
use super::{be_late, both, nap, thread};

pub(crate) fn wait_for_nothing(right: bool) {
    let (is_ready, changed) = (Mutex::new(false), Condvar::new());
    both(
        || {
            let mut ready = is_ready.lock().unwrap();
            if right {
                while !*ready {
                    ready = changed.wait(ready).unwrap();
                }
            } else {
                ready = changed.wait(ready).unwrap();
            }
            assert!(*ready);
        },
        || {
            nap();
            *is_ready.lock().unwrap() = true;
            changed.notify_one();
        },
    );
}

pub(crate) fn flag_outside_of_the_lock(right: bool) {
    let (is_ready, lock, changed) = (AtomicBool::new(false), Mutex::new(()), Condvar::new());
    both(
        || {
            let mut guard = lock.lock().unwrap();
            while !is_ready.load(Ordering::SeqCst) {
                guard = changed.wait(guard).unwrap();
            }
        },
        || {
            nap();
            let guard = right.then(|| lock.lock().unwrap());
            is_ready.store(true, Ordering::SeqCst);
            drop(guard);
            changed.notify_one();
        },
    );
}

pub(crate) fn two_tokens_are_one(right: bool) {
    let (done, main) = (AtomicU32::new(0), thread::current());
    let work = || {
        nap();
        done.fetch_add(1, Ordering::SeqCst);
        main.unpark();
    };
    thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(|| {
            be_late();
            work();
        });
        if right {
            while done.load(Ordering::SeqCst) < 2 {
                thread::park();
            }
        } else {
            thread::park();
            thread::park();
        }
    });
}
