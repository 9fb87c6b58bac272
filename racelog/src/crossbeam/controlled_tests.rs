//! Channels, scopes and cells under control.

use super::atomic::AtomicCell;
use super::utils::Backoff;
use super::{channel, thread};
use crate::sched::{Explorer, Failure};

fn explorer() -> Explorer {
    Explorer::new().schedules(200)
}

#[test]
fn scopes_wait_for_their_threads_and_channels_for_messages() {
    explorer()
        .check(|| {
            let (sender, receiver) = channel::bounded(1);
            let cell = AtomicCell::new(0u32);
            thread::scope(|scope| {
                for number in 1..=2 {
                    let (sender, cell) = (sender.clone(), &cell);
                    scope.spawn(move |_| {
                        cell.fetch_add(number);
                        sender.send(number).expect("somebody receives");
                    });
                }
                drop(sender);
                assert_eq!(receiver.iter().sum::<u32>(), 3);
            })
            .expect("nobody panics");
            assert_eq!(cell.load(), 3);
        })
        .expect("it is right");
}

#[test]
fn a_scope_whose_threads_wait_for_ever_is_a_deadlock() {
    let failed = explorer().check(|| {
        let (sender, receiver) = channel::unbounded::<()>();
        let scope = thread::scope(|scope| {
            scope.spawn(|_| receiver.recv());
        });
        scope.expect("nobody panics");
        drop(sender);
    });
    let failed = failed.expect_err("nobody sends");
    assert!(matches!(failed.failure, Failure::Deadlock { .. }), "{failed}");
}

#[test]
fn an_update_that_is_no_single_step_is_lost() {
    let failed = explorer().check(|| {
        let cell = AtomicCell::new(0u32);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|_| cell.store(cell.load() + 1));
            }
        })
        .expect("nobody panics");
        assert_eq!(cell.load(), 2);
    });
    failed.expect_err("some schedule fails");
}

/// Without a point at which another thread may move, they would spin for ever.
#[test]
fn who_backs_off_lets_another_thread_move_first() {
    explorer()
        .check(|| {
            let (ready, seen) = (AtomicCell::new(false), AtomicCell::new(0u32));
            thread::scope(|scope| {
                scope.spawn(|_| {
                    let backoff = Backoff::new();
                    while !ready.load() {
                        backoff.snooze();
                    }
                    backoff.reset();
                    while seen.load() == 0 {
                        backoff.spin();
                    }
                });
                ready.store(true);
                seen.store(1);
            })
            .expect("nobody panics");
        })
        .expect("it is right");
}

#[test]
fn selections_meet_each_other_and_whoever_waits() {
    for bound in [None, Some(0), Some(1)] {
        explorer()
            .check(move || {
                let [(to_a, a), (to_b, b)] =
                    [(); 2].map(|()| bound.map_or_else(channel::unbounded, channel::bounded));
                thread::scope(|scope| {
                    scope.spawn(|_| {
                        for number in 1..=2 {
                            channel::select! {
                                send(to_a, number) -> sent => sent.expect("somebody receives"),
                                send(to_b, number) -> sent => sent.expect("somebody receives"),
                            }
                        }
                    });
                    scope.spawn(|_| to_b.send(3).expect("somebody receives"));
                    let mut sum = 0;
                    let mut select = channel::Select::new();
                    let first = select.recv(&a);
                    select.recv(&b);
                    for _ in 0..3 {
                        let selected = select.select();
                        let from = if selected.index() == first { &a } else { &b };
                        sum += selected.recv(from).expect("somebody sends");
                    }
                    assert_eq!(sum, 6);
                })
                .expect("nobody panics");
            })
            .expect("it is right");
    }
}

#[test]
fn a_selection_that_nothing_comes_to_is_a_deadlock_or_ends_by_its_time() {
    let failed = explorer().check(|| {
        let (_sender, receiver) = channel::unbounded::<()>();
        channel::select! {
            recv(receiver) -> _ => unreachable!(),
            recv(channel::never::<()>()) -> _ => unreachable!(),
        }
    });
    let failed = failed.expect_err("nobody sends");
    assert!(matches!(failed.failure, Failure::Deadlock { .. }), "{failed}");
    explorer()
        .check(|| {
            let (sender, receiver) = channel::unbounded::<u8>();
            let day = std::time::Duration::from_secs(86_400);
            thread::scope(|scope| {
                scope.spawn(|_| sender.send(1).expect("somebody receives"));
                channel::select! {
                    recv(receiver) -> message => assert_eq!(message, Ok(1)),
                    default(day) => panic!("the other thread can go on"),
                }
                channel::select! {
                    recv(receiver) -> _ => unreachable!(),
                    default(day) => {}
                }
            })
            .expect("nobody panics");
        })
        .expect("it is right");
}

#[test]
fn every_arm_that_can_go_on_is_chosen_in_some_run() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    static CHOSEN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    explorer()
        .check(|| {
            let pairs = [channel::unbounded(), channel::unbounded()];
            let [a, b] = &pairs;
            thread::scope(|scope| {
                scope.spawn(|_| a.0.send(0).expect("somebody receives"));
                scope.spawn(|_| b.0.send(1).expect("somebody receives"));
            })
            .expect("nobody panics");
            let message: usize = channel::select! {
                recv(a.1) -> message => message.expect("it was sent"),
                recv(b.1) -> message => message.expect("it was sent"),
            };
            CHOSEN[message].fetch_add(1, Ordering::Relaxed);
        })
        .expect("it is right");
    let chosen = CHOSEN.each_ref().map(|chosen| chosen.load(Ordering::Relaxed));
    assert!(chosen.iter().all(|runs| *runs > 0), "{chosen:?}");
}
