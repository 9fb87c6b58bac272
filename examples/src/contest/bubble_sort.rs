//! An array is sorted by several threads, each of which goes over all of it once.
//!
//! Two neighbours are compared without the lock; if they stand wrong, they are exchanged under it.
//!
//! Bugs: both values may be others by then, and one of them is lost while another is there twice.
//! In `bubble_sort_fixed` they are compared under the lock as well. (That passes overtake each
//! other, and the array is not quite sorted, is a bug of its own in both.)
//!
//! Threads: passes. Work: elements.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "bubble_sort",
    about: "neighbours are compared without the lock that they are exchanged under",
    origin: Origin::ConTest,
    source: Source { file: file!(), text: include_str!("bubble_sort.rs") },
    run: |size| run(size, pass),
    small: Size::new(2, 3),
    large: Size::new(8, 200_000),
    races: &[
        Race::new("left-read", "left-write", Harm::BrokenInvariant, "a value is lost"),
        Race::new("left-read", "right-write", Harm::BrokenInvariant, "a value is lost"),
        Race::new("right-read", "left-write", Harm::BrokenInvariant, "a value is lost"),
        Race::new("right-read", "right-write", Harm::BrokenInvariant, "a value is lost"),
    ],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "bubble_sort_fixed",
    about: "as `bubble_sort`, with the comparison under the lock as well",
    run: |size| run(size, pass_fixed),
    races: &[],
    ..PROGRAM
};

fn run(size: &Size, pass: fn(&[Shared<usize>], &Mutex<()>)) {
    let values: Vec<Shared<usize>> = (0..size.work).rev().map(Shared::new).collect();
    let lock = Mutex::new(());
    thread::scope(|scope| {
        for _ in 0..size.threads {
            scope.spawn(|| pass(&values, &lock));
        }
    });
    let mut left: Vec<usize> = values.iter().map(Shared::get).collect();
    left.sort_unstable();
    racelog::check!(left.into_iter().eq(0..size.work), "no value is lost");
}

#[racelog::instrument]
fn pass(values: &[Shared<usize>], lock: &Mutex<()>) {
    for at in 1..values.len() {
        let left = values[at - 1].get(); // [left-read]
        let right = values[at].get(); // [right-read]
        if left > right {
            let _guard = lock.lock().unwrap();
            values[at - 1].set(right); // [left-write]
            values[at].set(left); // [right-write]
        }
    }
}

#[racelog::instrument]
fn pass_fixed(values: &[Shared<usize>], lock: &Mutex<()>) {
    for at in 1..values.len() {
        let _guard = lock.lock().unwrap();
        let left = values[at - 1].get();
        let right = values[at].get();
        if left > right {
            values[at - 1].set(right);
            values[at].set(left);
        }
    }
}
