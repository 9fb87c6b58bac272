//! Merge sort that starts a thread for a half as long as there are threads to spare.
//!
//! Halves are disjoint and waited for, so what is sorted does not race: a true negative in the same
//! program. How many threads may still be started is looked at by one, and changed by another,
//! without a lock.
//!
//! Bugs: changes of `spare` get lost, and it may go below zero; more threads are started than
//! allowed. In `merge_sort_fixed` looking and taking is one atomic step.
//!
//! Threads: how many may be started. Work: elements.

use racelog::cell::Shared;
use racelog::sync::atomic::{AtomicIsize, Ordering};
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "merge_sort",
    about: "the number of threads to spare is looked at and changed without a lock",
    origin: Origin::ConTest,
    source: Source { file: file!(), text: include_str!("merge_sort.rs") },
    run: |size| run(size, Spare::Racy(Shared::new(size.threads.cast_signed()))),
    small: Size::new(2, 4),
    large: Size::new(8, 150_000),
    races: &[
        Race::new("look", "change-write", Harm::StaleRead, "too many threads are started"),
        Race::new("change-read", "change-write", Harm::LostUpdate, "a thread counts as none"),
        Race::new("change-write", "change-write", Harm::LostUpdate, "a thread counts as none"),
    ],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "merge_sort_fixed",
    about: "as `merge_sort`, with an atomic counter that is looked at and changed in one step",
    run: |size| run(size, Spare::Atomic(AtomicIsize::new(size.threads.cast_signed()))),
    races: &[],
    ..PROGRAM
};

/// How many threads may still be started.
enum Spare {
    Racy(Shared<isize>),
    Atomic(AtomicIsize),
}

struct Job {
    values: Vec<Shared<usize>>,
    scratch: Vec<Shared<usize>>,
    spare: Spare,
}

fn run(size: &Size, spare: Spare) {
    let scrambled = |at: usize| Shared::new(at * 7919 % size.work);
    let values: Vec<Shared<usize>> = (0..size.work).map(scrambled).collect();
    let scratch = (0..size.work).map(|_| Shared::new(0)).collect();
    let job = Job { values, scratch, spare };
    job.sort(0, size.work);
    let sorted: Vec<usize> = job.values.iter().map(Shared::get).collect();
    racelog::check!(sorted.is_sorted(), "the values are sorted");
}

impl Job {
    fn sort(&self, from: usize, to: usize) {
        if to - from < 2 {
            return;
        }
        let middle = from.midpoint(to);
        if self.may_start() {
            thread::scope(|scope| {
                scope.spawn(|| self.work(from, middle));
                self.sort(middle, to);
            });
        } else {
            self.sort(from, middle);
            self.sort(middle, to);
        }
        self.merge(from, middle, to);
    }

    /// What a thread does that was started for a part.
    fn work(&self, from: usize, to: usize) {
        if let Spare::Racy(spare) = &self.spare {
            change(spare, -1);
        }
        self.sort(from, to);
        match &self.spare {
            Spare::Racy(spare) => change(spare, 1),
            Spare::Atomic(spare) => _ = spare.fetch_add(1, Ordering::Relaxed),
        }
    }

    #[racelog::instrument]
    fn may_start(&self) -> bool {
        match &self.spare {
            Spare::Racy(spare) => {
                let spare = spare.get(); // [look]
                spare > 0
            }
            Spare::Atomic(spare) => {
                let one_less = |spare: isize| (spare > 0).then(|| spare - 1);
                spare.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
            }
        }
    }

    #[racelog::instrument]
    fn merge(&self, from: usize, middle: usize, to: usize) {
        let (mut left, mut right) = (from, middle);
        for at in from..to {
            let is_left =
                right == to || left < middle && self.values[left].get() <= self.values[right].get();
            let next = if is_left { &mut left } else { &mut right };
            self.scratch[at].set(self.values[*next].get());
            *next += 1;
        }
        for at in from..to {
            self.values[at].set(self.scratch[at].get());
        }
    }
}

#[racelog::instrument]
fn change(spare: &Shared<isize>, by: isize) {
    let before = spare.get(); // [change-read]
    spare.set(before + by); // [change-write]
}
