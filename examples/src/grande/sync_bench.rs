//! Threads count as fast as they can, in the two ways that a language with monitors has.
//!
//! One counter is changed in a method that takes the lock, the other in a block that does. No bugs:
//! this is what a recorder and a predictor have most of.
//!
//! Work: changes of each thread.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Origin, Program, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "sync_bench",
    about: "counters under a lock, as fast as can be: race-free",
    origin: Origin::JavaGrande,
    source: Source { file: file!(), text: include_str!("sync_bench.rs") },
    run,
    small: Size::new(2, 1),
    large: Size::new(8, 150_000),
    races: &[],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

#[derive(Default)]
struct Counter {
    lock: Mutex<()>,
    count: Shared<usize>,
}

#[racelog::instrument]
impl Counter {
    /// The method that takes the lock.
    fn increment(&self) {
        let _guard = self.lock.lock().unwrap();
        self.count.set(self.count.get() + 1);
    }
}

fn run(size: &Size) {
    let counters = [Counter::default(), Counter::default()];
    let block_lock = Mutex::new(());
    thread::scope(|scope| {
        for _ in 0..size.threads {
            scope.spawn(|| {
                for _ in 0..size.work {
                    counters[0].increment();
                    {
                        let _guard = block_lock.lock().unwrap();
                        counters[1].count.set(counters[1].count.get() + 1);
                    }
                }
            });
        }
    });
    let all = size.threads * size.work;
    racelog::check!(counters.iter().all(|one| one.count.get() == all), "all changes are counted");
}
