//! Small programs under control.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::sync::atomic::AtomicU32;
use crate::sync::{Barrier, Condvar, Mutex, Once, OnceLock, RwLock, mpsc};
use crate::thread;

/// Runs the body under many schedules; gives the failure and checks that its seed repeats it.
fn fails(explorer: &Explorer, body: impl Fn()) -> Failure {
    let failed = explorer.check(&body).expect_err("some schedule fails");
    let again = explorer.replay(&failed.seed, &body).expect_err("the seed repeats it");
    assert_eq!(failed.failure.to_string(), again.failure.to_string(), "{}", failed.seed);
    failed.failure
}

/// All that can runs in fibers.
fn explorer() -> Explorer {
    Explorer::new().schedules(500).fibers()
}

fn threads() -> Explorer {
    Explorer::new().schedules(500).threads()
}

fn lost_update() {
    let counter = Arc::new(AtomicU32::new(0));
    let other = thread::spawn({
        let counter = counter.clone();
        move || counter.store(counter.load(Ordering::SeqCst) + 1, Ordering::SeqCst)
    });
    counter.store(counter.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
    other.join().expect("it does not panic");
    assert_eq!(counter.load(Ordering::SeqCst), 2);
}

#[test]
fn a_lost_update_is_found_by_every_strategy() {
    for explorer in [explorer(), explorer().pct(2), explorer().exhaustive()] {
        let failure = fails(&explorer, lost_update);
        assert!(matches!(failure, Failure::Panic { .. }), "{failure}");
    }
}

fn both_orders(first: &Mutex<()>, second: &Mutex<()>) {
    let _first = first.lock().expect("nobody panics");
    let _second = second.lock().expect("nobody panics");
}

#[test]
fn a_deadlock_is_reported_with_who_waits_for_what() {
    let body = || {
        let (a, b) = (Mutex::new(()), Mutex::new(()));
        thread::scope(|scope| {
            scope.spawn(|| both_orders(&a, &b));
            scope.spawn(|| both_orders(&b, &a));
        });
    };
    for explorer in [explorer(), explorer().pct(2), explorer().exhaustive()] {
        let Failure::Deadlock { waits } = fails(&explorer, body) else { panic!("no deadlock") };
        let [main, first, second] = &waits[..] else { panic!("{waits:?}") };
        assert!(main.to_string().starts_with("thread 0 (main) waits for the end of thread 0.1"));
        assert_eq!(first.holders().collect::<Vec<_>>(), ["0.2"]);
        assert_eq!(second.holders().collect::<Vec<_>>(), ["0.1"]);
        assert!(first.place().expect("it is known").file.ends_with("sched/tests.rs"));
    }
}

#[test]
fn a_thread_that_waits_for_itself_is_a_deadlock() {
    let failure = fails(&explorer(), || {
        let lock = Mutex::new(());
        let _first = lock.lock();
        let _second = lock.lock();
    });
    assert!(failure.to_string().contains("thread 0 (main), itself holds it since"), "{failure}");
}

#[test]
fn a_lost_wake_up_is_a_deadlock() {
    let body = |checked: bool| {
        move || {
            let state = Arc::new((Mutex::new(false), Condvar::new()));
            let other = thread::spawn({
                let state = state.clone();
                move || {
                    if checked {
                        *state.0.lock().expect("nobody panics") = true;
                    }
                    state.1.notify_one();
                }
            });
            let mut ready = state.0.lock().expect("nobody panics");
            if checked {
                while !*ready {
                    ready = state.1.wait(ready).expect("nobody panics");
                }
            } else {
                ready = state.1.wait(ready).expect("nobody panics");
            }
            drop(ready);
            other.join().expect("it does not panic");
        }
    };
    let failure = fails(&explorer(), body(false));
    assert!(failure.to_string().contains("waits to be notified"), "{failure}");
    let summary = explorer().schedules(1000).exhaustive().check(body(true)).expect("it is right");
    assert!(summary.complete && summary.schedules > 1, "{summary:?}");
}

#[test]
fn channels_barriers_locks_and_parking_work_under_control() {
    explorer()
        .schedules(200)
        .check(|| {
            let (sender, receiver) = mpsc::channel();
            let (bounded, taken) = mpsc::sync_channel(1);
            let (hand, other_hand) = mpsc::sync_channel(0);
            let barrier = Barrier::new(2);
            let shared = RwLock::new(0);
            let once = OnceLock::new();
            thread::scope(|scope| {
                let parked = scope.spawn(|| {
                    thread::park();
                    barrier.wait();
                    *shared.write().expect("nobody panics") += *once.get_or_init(|| 5);
                    sender.send(3).expect("somebody receives");
                    drop(sender);
                    bounded.send(1).expect("somebody receives");
                    bounded.send(2).expect("somebody receives");
                    hand.send("over").expect("somebody receives");
                });
                parked.thread().unpark();
                barrier.wait();
                assert_eq!(*once.get_or_init(|| 5), 5);
                assert_eq!(receiver.iter().sum::<i32>(), 3);
                assert_eq!((taken.recv(), taken.recv()), (Ok(1), Ok(2)));
                assert_eq!(other_hand.recv(), Ok("over"));
                parked.join().expect("it does not panic");
                assert_eq!(*shared.read().expect("nobody panics"), 5);
            });
        })
        .expect("it is right");
}

#[test]
fn time_is_virtual() {
    let begun = Instant::now();
    explorer()
        .schedules(20)
        .check(|| {
            let hour = Duration::from_secs(3600);
            let (sender, receiver) = mpsc::channel();
            assert_eq!(receiver.recv_timeout(hour), Err(mpsc::RecvTimeoutError::Timeout));
            let other = thread::spawn(move || {
                thread::sleep(hour);
                sender.send(1).expect("somebody receives");
            });
            assert_eq!(receiver.recv_timeout(2 * hour), Ok(1));
            other.join().expect("it does not panic");
            let (lock, condvar) = (Mutex::new(()), Condvar::new());
            let guard = lock.lock().expect("nobody panics");
            let (_guard, result) = condvar.wait_timeout(guard, hour).expect("nobody panics");
            assert!(result.timed_out());
            thread::park_timeout(hour);
        })
        .expect("it is right");
    assert!(begun.elapsed() < Duration::from_secs(3600));
}

/// In how many of so many schedules of one each a body fails.
fn failures(explorer: impl Fn() -> Explorer, body: impl Fn()) -> usize {
    let fails = |seed: &u64| explorer().schedules(1).seed(*seed).check(&body).is_err();
    (0..200).filter(fails).count()
}

#[test]
fn sleep_is_no_order() {
    /// A notification that nobody may wait for yet; who gives it sleeps before.
    fn lost_wake_up(sleep: Duration) -> impl Fn() {
        move || {
            let state = Arc::new((Mutex::new(()), Condvar::new()));
            let other = thread::spawn({
                let state = state.clone();
                move || {
                    if !sleep.is_zero() {
                        thread::sleep(sleep);
                    }
                    state.1.notify_one();
                }
            });
            let guard = state.0.lock().expect("nobody panics");
            drop(state.1.wait(guard).expect("nobody panics"));
            other.join().expect("it does not panic");
        }
    }
    let sleep = Duration::from_millis(50);
    let without = failures(explorer, lost_wake_up(Duration::ZERO));
    let with = failures(explorer, lost_wake_up(sleep));
    assert!(without > 0 && 2 * with > without, "{with} with the sleep, {without} without");
    let by_priority = || explorer().pct(2);
    let without = failures(by_priority, lost_wake_up(Duration::ZERO));
    let with = failures(by_priority, lost_wake_up(sleep));
    assert!(without > 0 && 2 * with > without, "{with} with the sleep, {without} without");
}

#[test]
fn who_looks_again_after_a_sleep_lets_others_go_on() {
    let body = || {
        let flag = Arc::new(AtomicU32::new(0));
        let other = thread::spawn({
            let flag = flag.clone();
            move || (0..20).for_each(|_| _ = flag.fetch_add(1, Ordering::SeqCst))
        });
        while flag.load(Ordering::SeqCst) < 20 {
            thread::sleep(Duration::from_secs(1));
        }
        other.join().expect("it does not panic");
    };
    for explorer in [explorer(), explorer().pct(3)] {
        explorer.schedules(50).max_steps(1000).check(body).expect("it ends");
    }
}

#[test]
fn who_spins_and_says_so_lets_others_go_on() {
    let body = |pause: fn()| {
        move || {
            let flag = Arc::new(AtomicU32::new(0));
            let other = thread::spawn({
                let flag = flag.clone();
                move || {
                    thread::sleep(Duration::from_secs(100));
                    flag.store(1, Ordering::SeqCst);
                }
            });
            while flag.load(Ordering::SeqCst) == 0 {
                pause();
            }
            other.join().expect("it does not panic");
        }
    };
    for pause in [thread::yield_now as fn(), crate::hint::spin_loop] {
        for explorer in [explorer(), explorer().pct(3), explorer().exhaustive()] {
            explorer.schedules(50).max_steps(1000).check(body(pause)).expect("it ends");
        }
    }
}

#[test]
fn what_never_ends_is_a_livelock() {
    let failure = fails(&explorer().max_steps(2_000), || {
        let flag = Arc::new(AtomicU32::new(0));
        let spin = |flag: &AtomicU32| {
            while flag.load(Ordering::SeqCst) == 0 {
                thread::yield_now();
            }
        };
        let other = thread::spawn({
            let flag = flag.clone();
            move || spin(&flag)
        });
        spin(&flag);
        other.join().expect("it does not panic");
    });
    assert!(failure.to_string().starts_with("livelock: no end after 2000 steps"), "{failure}");
}

#[test]
fn threads_that_are_left_are_sent_away_and_drop_what_they_have() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Noisy;
    impl Drop for Noisy {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    let summary = explorer().schedules(100).check(|| {
        let lock = Arc::new(Mutex::new(()));
        let (sender, receiver) = mpsc::channel::<()>();
        for endless in [true, false] {
            let (lock, noisy) = (lock.clone(), Noisy);
            let sender = sender.clone();
            thread::spawn(move || {
                let (_noisy, _sender) = (noisy, sender);
                let _held = lock.lock();
                loop {
                    if endless {
                        thread::yield_now();
                    } else {
                        thread::park();
                    }
                }
            });
        }
        drop(receiver);
    });
    assert_eq!(summary.expect("nothing fails").schedules, 100);
    assert_eq!(DROPPED.load(Ordering::Relaxed), 200);
}

#[test]
fn a_panic_counts_unless_somebody_joins() {
    let body = |joined: bool| {
        move || {
            let other = thread::spawn(|| std::panic::resume_unwind(Box::new("lost")));
            if joined {
                assert!(other.join().is_err());
            } else {
                while !other.is_finished() {
                    thread::yield_now();
                }
            }
        }
    };
    explorer().schedules(20).check(body(true)).expect("the panic is caught");
    let failure = fails(&explorer(), body(false));
    assert_eq!(failure.to_string(), "thread 0.1 panicked: lost");
}

#[test]
fn a_body_cannot_explore() {
    let failure = fails(&explorer(), || super::explore(|| {}));
    assert!(failure.to_string().contains("cannot explore another"), "{failure}");
}

#[test]
fn thread_locals_are_new_in_every_run_and_dropped_under_control() {
    struct Last(Option<(mpsc::Sender<u32>, u32)>);
    impl Drop for Last {
        fn drop(&mut self) {
            if let Some((sender, number)) = self.0.take() {
                sender.send(number + 1).expect("somebody receives");
            }
        }
    }
    std::thread_local! {
        static LAST: std::cell::RefCell<Last> = const { std::cell::RefCell::new(Last(None)) };
    }
    threads()
        .schedules(50)
        .check(|| {
            let (sender, receiver) = mpsc::channel();
            let threads: Vec<_> = (0..2)
                .map(|number| {
                    let sender = sender.clone();
                    thread::spawn(move || {
                        LAST.with(|last| {
                            assert!(last.borrow().0.is_none());
                            last.borrow_mut().0 = Some((sender, number));
                        });
                    })
                })
                .collect();
            drop(sender);
            assert_eq!(receiver.iter().sum::<u32>(), 3);
            threads.into_iter().for_each(|thread| thread.join().expect("it does not panic"));
        })
        .expect("it is right");
}

#[test]
fn an_initialiser_is_waited_for() {
    explorer()
        .check(|| {
            let (once, runs) = (Once::new(), AtomicU32::new(0));
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        once.call_once(|| {
                            runs.fetch_add(1, Ordering::SeqCst);
                            thread::yield_now();
                        });
                        assert!(once.is_completed());
                    });
                }
            });
            assert_eq!(runs.load(Ordering::SeqCst), 1);
        })
        .expect("it is right");
}

#[test]
fn who_blocks_outside_does_not_stop_the_others() {
    let summary = threads().schedules(1).check(|| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let helper = thread::spawn(move || {
            thread::yield_now();
            sender.send(7)
        });
        // The helper waits for its turn, which this thread has.
        assert_eq!(receiver.recv(), Ok(7));
        helper.join().expect("it does not panic").expect("somebody receives");
    });
    let [lost] = &summary.expect("it is right").lost[..] else { panic!("it was noticed once") };
    let lost = lost.to_string();
    assert!(lost.starts_with("control was lost: thread 0 (main) blocked outside"), "{lost}");
}

/// Two threads with two steps each on one object have six orders, and on two objects one.
#[test]
fn an_exhaustive_search_runs_what_differs_once() {
    let count = |same: bool| {
        let summary = explorer().schedules(1000).exhaustive().check(move || {
            let cells = [AtomicU32::new(0), AtomicU32::new(0)];
            thread::scope(|scope| {
                for number in 0..2 {
                    let cell = &cells[if same { 0 } else { number }];
                    scope.spawn(move || {
                        cell.fetch_add(1, Ordering::SeqCst);
                        cell.fetch_add(2, Ordering::SeqCst);
                    });
                }
            });
        });
        let summary = summary.expect("it is right");
        assert!(summary.complete);
        summary.schedules
    };
    assert_eq!((count(true), count(false)), (6, 1));
}

/// Fibers are another way to run the same schedules.
#[test]
#[cfg(fibers)]
fn fibers_and_threads_take_the_same_choices() {
    let body = || {
        let (sender, receiver) = mpsc::channel();
        let lock = Arc::new(Mutex::new(Vec::new()));
        let threads = [1, 2, 3].map(|number| {
            let (sender, lock) = (sender.clone(), lock.clone());
            let builder = thread::Builder::new().name(format!("number {number}"));
            let main = move || {
                lock.lock().expect("nobody panics").push(number);
                sender.send(thread::current().name().map(str::to_owned)).expect("it is there");
                number
            };
            builder.spawn(main).expect("it can be spawned")
        });
        drop(sender);
        let ids = threads.each_ref().map(|thread| thread.thread().id());
        assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
        let names: Vec<_> = receiver.iter().collect();
        let results = threads.map(|thread| thread.join().expect("it does not panic"));
        assert_eq!(results, [1, 2, 3]);
        // Fails under most schedules, and says under which.
        assert!(lock.lock().expect("nobody panics")[..] == [1, 2, 3], "{lock:?} {names:?}");
    };
    for seed in 0..20 {
        let of = |explorer: Explorer| {
            let failed = explorer.seed(seed).check(body).expect_err("some schedule fails");
            (failed.seed.to_string(), failed.failure.to_string(), failed.summary.steps)
        };
        assert_eq!(of(threads()), of(explorer()));
    }
}

#[test]
fn a_panic_in_a_scope_is_one_of_the_scope() {
    let failure = fails(&explorer(), || {
        thread::scope(|scope| {
            scope.spawn(|| std::panic::resume_unwind(Box::new("lost")));
        });
    });
    assert_eq!(failure.to_string(), "thread 0 (main) panicked: a scoped thread panicked");
    let caught = explorer().schedules(50).check(|| {
        let result = std::panic::catch_unwind(|| {
            thread::scope(|scope| {
                let thread = scope.spawn(|| std::panic::resume_unwind(Box::new("lost")));
                assert!(thread.join().is_err());
            });
        });
        result.expect("whoever joins has the panic");
    });
    caught.expect("nothing is left to complain about");
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_waits_behind_a_writer_that_waits() {
    let body = || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.write().unwrap() += 1);
            let _first = lock.read().unwrap();
            let _second = lock.read().unwrap();
        });
    };
    for explorer in [explorer(), explorer().pct(2), explorer().exhaustive()] {
        let failure = fails(&explorer, body);
        assert!(matches!(failure, Failure::Deadlock { .. }), "{failure}");
    }
    // An attempt does not fail for it: no event would say why.
    let tries = || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.write().unwrap() += 1);
            let _first = lock.read().unwrap();
            assert!(lock.try_read().is_ok());
        });
    };
    explorer().check(tries).expect("readers share the lock");
}
