//! A work-stealing deque, after Chase and Lev: its owner pushes and pops tasks at the bottom,
//! thieves steal them from the top.
//!
//! Bug: the owner takes the last task without asking whether a thief takes it, too; so both run
//! it. In `deque_fixed` both have to win the top by a compare-exchange.
//!
//! Work: tasks. There are `threads` thieves.

use racelog::cell::UnsafeCell;
use racelog::sync::atomic::{AtomicUsize, Ordering, fence};
use racelog::thread;

use crate::{Goal, GoalKind, Harm, Origin, Program, Race, Size, Source};

const SOURCE: Source = Source { file: file!(), text: include_str!("deque.rs") };

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "deque",
    about: "a work-stealing deque whose owner takes the last task without asking",
    origin: Origin::Shapes,
    source: SOURCE,
    run: |size| work(size, take_last),
    small: Size::new(1, 1),
    large: Size::new(3, 20_000),
    races: &[
        Race::new("run", "run", Harm::BrokenInvariant, "the last task is run twice"),
        Race::new("run", "look", Harm::BrokenInvariant, "one looks while the other runs it"),
    ],
    goals: &[Goal::new(
        GoalKind::InferredAtomicity,
        &["take-last"],
        "a thief takes the task after the owner has found it to be there",
    )],
    schedule: "random:40",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "deque_fixed",
    about: "as `deque`, but the last task has to be won",
    run: |size| work(size, win),
    races: &[],
    goals: &[],
    ..PROGRAM
};

struct Deque {
    /// The first task that nobody has taken.
    top: AtomicUsize,
    /// Behind the last task. Both start at 1, so that the owner can look below the first.
    bottom: AtomicUsize,
    /// Each task in a place of its own, which is never used again: how often it was run.
    tasks: Box<[UnsafeCell<u32>]>,
}

// SAFETY: a task is used only by its owner until it is pushed, and then by whoever has taken it.
// With `take_last` two may have.
unsafe impl Sync for Deque {}

#[racelog::instrument]
fn push(deque: &Deque) {
    let bottom = deque.bottom.load(Ordering::Relaxed);
    // SAFETY: the task is not pushed yet.
    unsafe { *deque.tasks[bottom].get() = 0 };
    fence(Ordering::Release);
    deque.bottom.store(bottom + 1, Ordering::Relaxed);
}

#[racelog::instrument]
fn steal(deque: &Deque) -> Option<usize> {
    let top = deque.top.load(Ordering::Acquire);
    fence(Ordering::SeqCst);
    let bottom = deque.bottom.load(Ordering::Acquire);
    (top < bottom && win(deque, top)).then_some(top)
}

#[racelog::instrument]
fn pop(deque: &Deque, take_last: fn(&Deque, usize) -> bool) -> Option<usize> {
    let bottom = deque.bottom.load(Ordering::Relaxed) - 1;
    deque.bottom.store(bottom, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    let top = deque.top.load(Ordering::Relaxed);
    if top < bottom {
        return Some(bottom);
    }
    let taken = top == bottom && take_last(deque, top);
    deque.bottom.store(bottom + 1, Ordering::Relaxed);
    taken.then_some(bottom)
}

/// Takes the task at the top, unless somebody else has taken it.
#[racelog::instrument]
fn win(deque: &Deque, top: usize) -> bool {
    deque.top.compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed).is_ok()
}

/// Takes the last task, whatever the others do.
#[racelog::instrument]
fn take_last(deque: &Deque, top: usize) -> bool {
    deque.top.store(top + 1, Ordering::Relaxed); // [take-last]
    true
}

#[racelog::instrument]
fn run(deque: &Deque, task: usize) -> u32 {
    let times = &deque.tasks[task];
    // SAFETY: the task was taken; see above for what that is worth.
    unsafe { *times.get() += 1 }; // [run]
    // SAFETY: as above.
    unsafe { *times.get() } // [look]
}

fn work(size: &Size, take_last: fn(&Deque, usize) -> bool) {
    let (top, bottom) = (AtomicUsize::new(1), AtomicUsize::new(1));
    let tasks = (0..=size.work).map(|_| UnsafeCell::new(0)).collect();
    let deque = Deque { top, bottom, tasks };
    thread::scope(|scope| {
        for _ in 0..size.threads {
            scope.spawn(|| {
                for _ in 0..size.work {
                    if let Some(task) = steal(&deque) {
                        racelog::check!(run(&deque, task) == 1, "no task is run twice");
                    }
                }
            });
        }
        (0..size.work).for_each(|_| push(&deque));
        while let Some(task) = pop(&deque, take_last) {
            racelog::check!(run(&deque, task) == 1, "no task is run twice");
        }
    });
}
