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
