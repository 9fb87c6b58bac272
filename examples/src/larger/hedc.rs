//! A crawler of crawlers: a request becomes a task for each archive, and what is late is cancelled.
//!
//! Tasks go to a pool of threads. A task knows the thread that runs it, so that it can be
//! interrupted; the network is a stub that answers after some steps.
//!
//! Bugs: when a task is done, it forgets its thread without its lock, just when a thread that
//! cancels it has found it there and is about to use it: in the original, a null dereference. And
//! whether a task is still valid is read without the lock while it runs. In `hedc_fixed` the one is
//! done under the lock, and the other is atomic.
//!
//! Threads: of the pool. Work: tasks.

use std::collections::VecDeque;

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::sync::atomic::{AtomicBool, Ordering};
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// How many steps an answer takes.
const STEPS: usize = 2;

/// How long the request waits before it cancels.
const PATIENCE: usize = 4;

/// No thread runs the task.
const NOBODY: usize = 0;

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "hedc",
    about: "a task forgets its thread without a lock while it is being cancelled",
    origin: Origin::Larger,
    source: Source { file: file!(), text: include_str!("hedc.rs") },
    run: |size| run(size, false),
    small: Size::new(2, 2),
    large: Size::new(8, 650_000),
    races: &[
        Race::new("forget", "look", Harm::Benign, "the task is done just before"),
        Race::new("forget", "interrupt", Harm::Crash, "the thread that was found is gone"),
        Race::new("poll", "invalidate", Harm::StaleRead, "a cancelled task goes on"),
    ],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "hedc_fixed",
    about: "as `hedc`, with the lock held to forget the thread, and an atomic flag",
    run: |size| run(size, true),
    races: &[],
    ..PROGRAM
};

struct Task {
    lock: Mutex<()>,
    thread: Shared<usize>,
    is_valid: Shared<bool>,
    /// The flag of the right twin.
    is_cancelled: AtomicBool,
    is_fixed: bool,
}

fn run(size: &Size, is_fixed: bool) {
    let new = |_| Task {
        lock: Mutex::new(()),
        thread: Shared::new(NOBODY),
        is_valid: Shared::new(true),
        is_cancelled: AtomicBool::new(false),
        is_fixed,
    };
    let tasks: Vec<Task> = (0..size.work).map(new).collect();
    let queue: Mutex<VecDeque<&Task>> = Mutex::new(tasks.iter().collect());
    let lost: usize = thread::scope(|scope| {
        for me in 1..=size.threads {
            let queue = &queue;
            scope.spawn(move || {
                while let Some(task) = next(queue) {
                    work(task, me);
                }
            });
        }
        for _ in 0..PATIENCE {
            thread::yield_now();
        }
        tasks.iter().map(cancel).sum()
    });
    racelog::check!(lost == 0, "a thread that was found is still there");
}

fn next<'a>(queue: &Mutex<VecDeque<&'a Task>>) -> Option<&'a Task> {
    queue.lock().unwrap().pop_front()
}

#[racelog::instrument]
fn work(task: &Task, me: usize) {
    {
        let _guard = task.lock.lock().unwrap();
        task.thread.set(me);
    }
    for _ in 0..STEPS {
        if !is_valid(task) {
            break;
        }
        thread::yield_now();
    }
    if task.is_fixed {
        let _guard = task.lock.lock().unwrap();
        task.thread.set(NOBODY);
    } else {
        task.thread.set(NOBODY); // [forget]
    }
}

#[racelog::instrument]
fn is_valid(task: &Task) -> bool {
    if task.is_fixed {
        !task.is_cancelled.load(Ordering::Relaxed)
    } else {
        task.is_valid.get() // [poll]
    }
}

/// Cancels a task; gives 1 if its thread was lost on the way.
#[racelog::instrument]
fn cancel(task: &Task) -> usize {
    let _guard = task.lock.lock().unwrap();
    if task.is_fixed {
        task.is_cancelled.store(true, Ordering::Relaxed);
    } else {
        task.is_valid.set(false); // [invalidate]
    }
    let thread = task.thread.get(); // [look]
    if thread == NOBODY {
        return 0;
    }
    let interrupted = task.thread.get(); // [interrupt]
    usize::from(interrupted == NOBODY)
}
