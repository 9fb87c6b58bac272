//! Fibers, where nobody has asked for them.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::front::locals::is_fiber;
use super::*;
use crate::sync::atomic::AtomicU32;
use crate::sync::{Arc, Mutex, mpsc};
use crate::thread;

/// An explorer that may use fibers or threads.
fn either() -> Explorer {
    Explorer::new().schedules(100)
}

/// Runs the body in a second thread of each schedule; says in how many that was a fiber.
fn fibers(explorer: &Explorer, body: impl Fn() + Sync) -> (Result<Summary, Box<Failed>>, usize) {
    let fibers = AtomicUsize::new(0);
    let result = explorer.check(|| {
        thread::scope(|scope| {
            scope.spawn(|| {
                fibers.fetch_add(usize::from(is_fiber()), Ordering::Relaxed);
                body();
            });
        });
    });
    (result, fibers.into_inner())
}

#[test]
fn threads_are_fibers_but_for_the_first_schedules() {
    let (result, count) = fibers(&either(), || {});
    assert_eq!((result.expect("it is right").schedules, count), (100, 99));
    let (result, count) = fibers(&either().pct(3), || {});
    assert_eq!((result.expect("it is right").schedules, count), (100, 99));
    let (result, count) = fibers(&either().threads(), || {});
    assert_eq!((result.expect("it is right").schedules, count), (100, 0));
    let (result, count) = fibers(&either().fibers(), || {});
    assert_eq!((result.expect("it is right").schedules, count), (100, 100));
    // What it says is about all schedules.
    let (result, count) = fibers(&either().exhaustive(), || {});
    assert!(result.expect("it is right").complete);
    assert_eq!(count, 0);
}

#[test]
fn a_failure_is_one_of_threads() {
    let was_fiber = AtomicU32::new(2);
    let failed = either().schedules(1000).check(|| {
        let cell = AtomicU32::new(0);
        thread::scope(|scope| {
            for number in 1..4 {
                let cell = &cell;
                scope.spawn(move || cell.store(number, Ordering::SeqCst));
            }
        });
        was_fiber.store(u32::from(super::in_fiber()), Ordering::Relaxed);
        assert_ne!(cell.load(Ordering::SeqCst), 1);
    });
    let failed = failed.expect_err("some schedule fails");
    assert_eq!(was_fiber.into_inner(), 0, "{failed}");
    assert!(failed.payload.is_some());
}

/// std's thread-locals are shared by fibers, which threads do not do.
#[test]
fn what_only_fibers_do_is_no_failure() {
    std::thread_local! {
        static OF_STD: RefCell<u32> = const { RefCell::new(0) };
    }
    let fibers = AtomicUsize::new(0);
    let body = || {
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    fibers.fetch_add(usize::from(is_fiber()), Ordering::Relaxed);
                    OF_STD.with_borrow_mut(|_| thread::yield_now());
                });
            }
        });
    };
    let summary = either().check(body).expect("it is right");
    assert_eq!(summary.schedules, 100);
    let count = fibers.load(Ordering::Relaxed);
    assert!(0 < count && count < 100, "fibers were left when they made a difference: {count}");
    either().fibers().check(body).expect_err("who insists on fibers has what they do");
}

#[test]
fn racelogs_thread_locals_belong_to_fibers() {
    crate::thread_local! {
        static CELL: Cell<u32> = const { Cell::new(7) };
        static NAMES: RefCell<Vec<u32>> = RefCell::new(Vec::new());
        static LAZY: Arc<u32> = Arc::new(CELL.get());
    }
    let body = || {
        let threads = [1, 2, 3].map(|number| {
            thread::spawn(move || {
                assert_eq!(CELL.replace(number), 7);
                NAMES.with_borrow_mut(|names| {
                    names.push(number);
                    thread::yield_now();
                    names.push(number);
                });
                thread::yield_now();
                assert_eq!(LAZY.with(|lazy| **lazy), number);
                assert_eq!(NAMES.take(), [number; 2]);
                NAMES.set(vec![number]);
                NAMES.with_borrow(|names| assert_eq!(names[..], [number]));
                CELL.set(CELL.take() + 1);
                CELL.get()
            })
        });
        assert_eq!(threads.map(|thread| thread.join().expect("it is right")), [2, 3, 4]);
    };
    for explorer in [either().fibers(), either().threads()] {
        explorer.check(body).expect("each has its own");
    }
    // The first is the calling thread.
    CELL.set(20);
    either().fibers().schedules(3).check(|| CELL.set(CELL.get() + 1)).expect("it is right");
    assert_eq!(CELL.get(), 23);
}

#[test]
fn thread_locals_of_fibers_are_dropped_at_their_end_and_under_control() {
    struct Last(&'static str, mpsc::Sender<&'static str>);
    impl Drop for Last {
        fn drop(&mut self) {
            // One that is past its end says so, and others can still be made.
            assert!(FIRST.try_with(|_| ()).is_err() == (self.0 == "first"));
            LATE.with(|late| late.set(late.get() + 1));
            self.1.send(self.0).expect("somebody receives");
        }
    }
    crate::thread_local! {
        static FIRST: RefCell<Option<Last>> = const { RefCell::new(None) };
        static SECOND: RefCell<Option<Last>> = const { RefCell::new(None) };
        static LATE: Cell<u32> = const { Cell::new(0) };
    }
    let body = || {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || {
            FIRST.set(Some(Last("first", sender.clone())));
            SECOND.set(Some(Last("second", sender)));
        });
        let last: Vec<_> = receiver.iter().collect();
        other.join().expect("it does not panic");
        assert_eq!(last, ["second", "first"]);
    };
    for explorer in [either().fibers(), either().threads()] {
        explorer.check(body).expect("both have the same order");
    }
}

/// A lock of std's that a fiber holds while another asks for it: the one thread of all fibers waits
/// for itself.
#[test]
fn threads_go_on_where_a_fiber_blocks() {
    let explorer = either().schedules(20).fibers();
    let fibers = AtomicUsize::new(0);
    let summary = explorer.check(|| {
        let (outside, inside) = (std::sync::Mutex::new(0), Mutex::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    fibers.fetch_add(usize::from(is_fiber()), Ordering::Relaxed);
                    let mut held = outside.lock().expect("nobody panics");
                    *inside.lock().expect("nobody panics") += 1;
                    *held += 1;
                });
            }
        });
        assert_eq!(inside.into_inner().expect("nobody panics"), 3);
    });
    let summary = summary.expect("it is right");
    assert_eq!(summary.schedules, 20);
    assert!(!summary.lost.is_empty(), "threads have blocked, too");
    let count = fibers.load(Ordering::Relaxed);
    assert!(0 < count && count < 60, "fibers were left when they made a difference: {count}");
}

/// The first schedules, by threads, show that others must go on meanwhile.
#[test]
fn a_body_that_blocks_outside_is_run_by_threads_from_the_start() {
    let fibers = AtomicUsize::new(0);
    let summary = either().schedules(4).check(|| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let helper = thread::spawn(move || sender.send(is_fiber()));
        fibers.fetch_add(usize::from(receiver.recv().expect("it sends")), Ordering::Relaxed);
        helper.join().expect("it does not panic").expect("somebody receives");
    });
    assert_eq!(summary.expect("it is right").lost.len(), 4);
    assert_eq!(fibers.into_inner(), 0);
}

/// Who only sleeps comes back, and nobody else has gone on meanwhile.
#[test]
fn a_fiber_that_sleeps_outside_loses_nothing() {
    let summary = either().schedules(2).fibers().check(|| {
        thread::scope(|scope| {
            scope.spawn(|| std::thread::sleep(Duration::from_millis(100)));
            thread::yield_now();
        });
    });
    assert!(summary.expect("it is right").lost.is_empty());
}

#[test]
fn stacks_are_as_large_as_those_of_threads() {
    /// Uses so many KiB of stack.
    fn deep(size: usize) -> usize {
        let part = std::hint::black_box([1_u8; 1024]);
        if size == 0 { usize::from(part[0]) } else { deep(size - 1) + usize::from(part[1]) }
    }
    either()
        .schedules(2)
        .fibers()
        .check(|| {
            assert_eq!(thread::spawn(|| deep(300)).join().expect("it fits"), 301);
            let large = thread::Builder::new().stack_size(32 << 20);
            let large = large.spawn(|| deep(6_000)).expect("there is room");
            assert_eq!(large.join().expect("it fits"), 6_001);
        })
        .expect("it is right");
}
