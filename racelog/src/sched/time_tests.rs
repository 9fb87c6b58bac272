//! What programs under control see of time.

use std::sync::Arc;
use std::sync::Mutex as Untouched;
use std::sync::atomic::Ordering;

use super::*;
use crate::sync::atomic::{AtomicBool, AtomicU32};
use crate::sync::{Condvar, Mutex, mpsc};
use crate::thread;
use crate::time::{Duration, Instant};

/// Nobody would wait for that.
const DAY: Duration = Duration::from_secs(24 * 3600);
const SECOND: Duration = Duration::from_secs(1);

/// An explorer for each strategy that chooses by chance. The place is none of the program's.
fn by_chance() -> [Explorer; 3] {
    let nowhere = SourcePlace::new("nowhere.rs", 1);
    let explorer = Explorer::new().schedules(20);
    let race = explorer.clone().race_directed([(nowhere.clone(), nowhere)]);
    [explorer.clone(), explorer.clone().pct(3), race]
}

/// Runs the body by all strategies that choose by chance, and by one of their seeds once more.
fn is_right(body: impl Fn()) {
    for explorer in by_chance() {
        let summary = explorer.check(&body).expect("it is right");
        assert_eq!((summary.schedules, summary.lost.len()), (20, 0));
    }
    let seed = Seed::Random { number: 7 };
    Explorer::new().replay(&seed, &body).expect("it is right");
}

fn look_until(deadline: Instant) {
    while Instant::now() < deadline {}
}

#[test]
fn a_loop_that_only_looks_at_the_clock_ends() {
    let body = || {
        let begun = Instant::now();
        look_until(begun + DAY);
        assert!(begun.elapsed() >= DAY);
    };
    is_right(body);
    let summary = Explorer::new().exhaustive().check(body).expect("it is right");
    assert!(summary.complete);
}

#[test]
fn loops_of_several_threads_end_whatever_they_do_meanwhile() {
    is_right(|| {
        let (done, work) = (AtomicBool::new(false), AtomicU32::new(0));
        thread::scope(|scope| {
            // It never looks at the clock.
            scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    work.fetch_add(1, Ordering::SeqCst);
                    thread::yield_now();
                }
            });
            let workers = [thread::yield_now, || thread::sleep(SECOND), || ()].map(|pause| {
                let work = &work;
                scope.spawn(move || {
                    let begun = Instant::now();
                    while begun.elapsed() < 20 * SECOND {
                        work.fetch_add(1, Ordering::SeqCst);
                        pause();
                    }
                })
            });
            workers.into_iter().for_each(|worker| worker.join().expect("it does not panic"));
            done.store(true, Ordering::SeqCst);
        });
    });
}

/// An exhaustive search goes by the clock: nobody gives up while others can go on.
#[test]
fn an_exhaustive_search_ends_with_loops_that_look() {
    let body = || {
        let ready = Arc::new(AtomicBool::new(false));
        let other = thread::spawn({
            let ready = ready.clone();
            move || ready.store(true, Ordering::SeqCst)
        });
        let begun = Instant::now();
        while !ready.load(Ordering::SeqCst) {
            assert!(begun.elapsed() < SECOND);
        }
        other.join().expect("it does not panic");
    };
    let summary = Explorer::new().exhaustive().check(body).expect("it is right");
    assert!(summary.complete && summary.schedules > 1, "{summary:?}");
}

/// Who waits for others, ten seconds at most, does not give up while they are at work.
#[test]
fn who_looks_at_the_clock_leaves_others_the_time_they_need() {
    is_right(|| {
        let (ready, work) = (AtomicBool::new(false), Mutex::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                (0..200).for_each(|_| *work.lock().expect("nobody panics") += 1);
                ready.store(true, Ordering::SeqCst);
            });
            let begun = Instant::now();
            while !ready.load(Ordering::SeqCst) {
                assert!(begun.elapsed() < 10 * SECOND, "it gave up");
            }
        });
    });
}

#[test]
fn who_has_slept_finds_that_time_has_passed_and_others_do_not_wait_for_less() {
    is_right(|| {
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                let begun = Instant::now();
                thread::sleep(DAY);
                assert!(begun.elapsed() >= DAY);
            });
            scope.spawn(move || sender.send(Instant::now()).expect("there is a receiver"));
            let sent = receiver.recv_timeout(SECOND).expect("it comes in time");
            assert!(Instant::now() >= sent);
        });
    });
}

#[test]
fn waits_that_time_out_move_the_clock() {
    is_right(|| {
        let begun = Instant::now();
        let (_sender, receiver) = mpsc::channel::<()>();
        assert_eq!(receiver.recv_timeout(DAY), Err(mpsc::RecvTimeoutError::Timeout));
        assert!(begun.elapsed() >= DAY);
        let (lock, condvar) = (Mutex::new(()), Condvar::new());
        let guard = lock.lock().expect("nobody panics");
        assert!(condvar.wait_timeout(guard, DAY).expect("nobody panics").1.timed_out());
        assert!(begun.elapsed() >= 2 * DAY);
        thread::park_timeout(DAY);
        assert!(begun.elapsed() >= 3 * DAY);
    });
}

/// Runs the body with what it is to note times in; gives those of the run.
fn times(run: impl Fn(&dyn Fn(Duration))) -> Vec<Duration> {
    let noted = Untouched::new(Vec::new());
    run(&|time| noted.lock().expect("nobody panics").push(time));
    noted.into_inner().expect("nobody panics")
}

#[test]
fn a_seed_decides_what_time_it_is() {
    let explore = |number: u64| {
        times(|note| {
            let body = || {
                let begun = Instant::now();
                thread::scope(|scope| {
                    scope.spawn(|| thread::sleep(SECOND));
                    scope.spawn(|| look_until(begun + 2 * SECOND));
                    note(begun.elapsed());
                });
                note(begun.elapsed());
            };
            Explorer::new().replay(&Seed::Random { number }, body).expect("it is right");
        })
    };
    assert!((0..20).all(|number| explore(number) == explore(number)));
    assert!((1..20).any(|number| explore(number) != explore(0)), "they differ by the schedule");
}

#[test]
fn instants_of_the_world_are_as_far_away_on_the_clock_of_the_run() {
    let before = Instant::now();
    is_right(|| {
        let begun = Instant::now();
        assert!(begun >= before && begun.duration_since(before) < DAY / 2);
        let world = std::time::Instant::now() + DAY;
        let ahead = Instant::from(world) - begun;
        assert!(ahead > DAY / 2 && ahead < 2 * DAY, "{ahead:?}");
        look_until(world.into());
        assert!(begun.elapsed() > DAY / 2);
        let back = std::time::Instant::from(begun);
        assert!(back < std::time::Instant::now() - DAY / 2);
    });
}
