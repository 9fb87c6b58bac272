//! What is in order by chance, and beside it what is in order by rule.
//!
//! One thread writes a place and then does something that has nothing to do with it; another, which
//! is late, does the same and then reads the place. What both do orders the run that is recorded,
//! and no other. The code is not instrumented, so prediction cannot know that nothing depends on
//! what the threads find there. In the twins the late thread waits for the early one.
//!
//! `held` has other bugs that come about only where threads are held back, each with its right twin.

#![cfg(all(test, racelog))]

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use racelog::cell::Shared;
use racelog::sync::atomic::{AtomicU32, Ordering};
use racelog::sync::mpsc::channel;
use racelog::sync::{Arc, Condvar, Mutex, OnceLock, RwLock};
use racelog::thread;

/// Runs both, the second 30 milliseconds later.
fn late(first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
    thread::scope(|scope| {
        scope.spawn(first);
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(30));
            second();
        });
    });
}

mod held;

mod by_chance {
    use super::*;

    #[racelog::test]
    fn counter_behind_a_mutex() {
        let (place, count) = (Shared::new(0), Mutex::new(0));
        late(
            || {
                place.set(1);
                *count.lock().unwrap() += 1;
            },
            || {
                *count.lock().unwrap() += 1;
                place.get();
            },
        );
    }

    #[racelog::test]
    fn counter_behind_a_rwlock() {
        let (place, count) = (Shared::new(0), RwLock::new(0));
        late(
            || {
                place.set(1);
                *count.write().unwrap() += 1;
            },
            || {
                *count.write().unwrap() += 1;
                place.get();
            },
        );
    }

    #[racelog::test]
    fn counter_that_is_atomic() {
        let (place, count) = (Shared::new(0), AtomicU32::new(0));
        late(
            || {
                place.set(1);
                count.fetch_add(1, Ordering::AcqRel);
            },
            || {
                count.fetch_add(1, Ordering::AcqRel);
                place.get();
            },
        );
    }

    #[racelog::test]
    fn channel_of_others() {
        let place = Shared::new(0);
        let (sender, receiver) = channel();
        let other = sender.clone();
        late(
            || {
                place.set(1);
                sender.send(1).unwrap();
            },
            || {
                other.send(2).unwrap();
                place.get();
            },
        );
        assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
    }

    #[racelog::test]
    fn count_of_an_arc() {
        let (place, owner) = (Shared::new(0), Arc::new(()));
        let (one, other) = (owner.clone(), owner.clone());
        late(
            || {
                place.set(1);
                drop(one);
            },
            || {
                drop(other);
                place.get();
            },
        );
    }

    #[racelog::test]
    fn log_of_what_was_done() {
        let (place, log) = (Shared::new(0), Mutex::new(Vec::new()));
        late(
            || {
                place.set(1);
                log.lock().unwrap().push("written");
            },
            || {
                log.lock().unwrap().push("about to read");
                place.get();
            },
        );
        assert_eq!(log.lock().unwrap().len(), 2);
    }

    #[racelog::test]
    fn statistics_of_what_was_done() {
        let (place, statistics) = (Shared::new(0), Mutex::new(HashMap::new()));
        late(
            || {
                place.set(1);
                *statistics.lock().unwrap().entry("writes").or_insert(0) += 1;
            },
            || {
                *statistics.lock().unwrap().entry("reads").or_insert(0) += 1;
                place.get();
            },
        );
    }

    #[racelog::test]
    fn settings_that_are_made_once() {
        let (place, settings) = (Shared::new(0), OnceLock::new());
        late(
            || {
                place.set(1);
                settings.get_or_init(|| 7);
            },
            || {
                settings.get_or_init(|| 7);
                place.get();
            },
        );
    }

    #[racelog::test]
    fn queue_of_jobs() {
        let (place, queue, more) = (Shared::new(0), Mutex::new(VecDeque::new()), Condvar::new());
        late(
            || {
                place.set(1);
                queue.lock().unwrap().push_back(1);
                more.notify_one();
            },
            || {
                queue.lock().unwrap().push_back(2);
                more.notify_one();
                place.get();
            },
        );
        let mut jobs = queue.lock().unwrap();
        while jobs.len() < 2 {
            jobs = more.wait(jobs).unwrap();
        }
    }

    #[racelog::test]
    fn what_is_printed() {
        let place = Shared::new(0);
        late(
            || {
                place.set(1);
                println!("written");
            },
            || {
                println!("about to read");
                place.get();
            },
        );
    }
}

mod by_rule {
    use super::*;

    #[racelog::test]
    fn counter_behind_a_mutex() {
        let (place, count) = (Shared::new(0), Mutex::new(0));
        late(
            || {
                place.set(1);
                *count.lock().unwrap() += 1;
            },
            || {
                while *count.lock().unwrap() == 0 {
                    thread::yield_now();
                }
                place.get();
            },
        );
    }

    #[racelog::test]
    fn counter_behind_a_rwlock() {
        let (place, count) = (Shared::new(0), RwLock::new(0));
        late(
            || {
                place.set(1);
                *count.write().unwrap() += 1;
            },
            || {
                if *count.read().unwrap() == 1 {
                    place.get();
                }
            },
        );
    }

    #[racelog::test]
    fn counter_that_is_atomic() {
        let (place, count) = (Shared::new(0), AtomicU32::new(0));
        late(
            || {
                place.set(1);
                count.fetch_add(1, Ordering::AcqRel);
            },
            || {
                if count.fetch_add(1, Ordering::AcqRel) == 1 {
                    place.get();
                }
            },
        );
    }

    #[racelog::test]
    fn channel_of_their_own() {
        let place = &Shared::new(0);
        let (sender, receiver) = channel();
        late(
            || {
                place.set(1);
                sender.send(1).unwrap();
            },
            move || {
                receiver.recv().unwrap();
                place.get();
            },
        );
    }

    #[racelog::test]
    fn last_owner_of_an_arc() {
        let owner = Arc::new(Shared::new(0));
        let other = owner.clone();
        late(
            || {
                owner.set(1);
                drop(owner);
            },
            || {
                let mut other = other;
                while Arc::get_mut(&mut other).is_none() {
                    thread::yield_now();
                }
                other.get();
            },
        );
    }

    #[racelog::test]
    fn log_of_what_was_done() {
        let (place, log) = (Shared::new(0), Mutex::new(Vec::new()));
        late(
            || {
                place.set(1);
                log.lock().unwrap().push("written");
            },
            || {
                if !log.lock().unwrap().is_empty() {
                    place.get();
                }
            },
        );
    }

    #[racelog::test]
    fn statistics_of_what_was_done() {
        let (place, statistics) = (Shared::new(0), Mutex::new(HashMap::new()));
        late(
            || {
                place.set(1);
                *statistics.lock().unwrap().entry("writes").or_insert(0) += 1;
            },
            || {
                if statistics.lock().unwrap().contains_key("writes") {
                    place.get();
                }
            },
        );
    }

    #[racelog::test]
    fn settings_that_are_made_once() {
        let (place, settings) = (Shared::new(0), OnceLock::new());
        late(
            || {
                place.set(1);
                settings.set(7).unwrap();
            },
            || {
                if settings.get().is_some() {
                    place.get();
                }
            },
        );
    }

    #[racelog::test]
    fn queue_of_jobs() {
        let (place, queue, more) = (Shared::new(0), Mutex::new(VecDeque::new()), Condvar::new());
        late(
            || {
                place.set(1);
                queue.lock().unwrap().push_back(1);
                more.notify_one();
            },
            || {
                let mut jobs = queue.lock().unwrap();
                while jobs.is_empty() {
                    jobs = more.wait(jobs).unwrap();
                }
                drop(jobs);
                place.get();
            },
        );
    }

    #[racelog::test]
    fn what_is_printed() {
        let place = Arc::new(Shared::new(0));
        let other = place.clone();
        let first = thread::spawn(move || {
            other.set(1);
            println!("written");
        });
        late(
            || first.join().unwrap(),
            || println!("about to read"),
        );
        place.get();
    }
}
