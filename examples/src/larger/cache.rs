//! A cache whose entries expire, with a thread that cleans it now and then.
//!
//! Entries are put, got and cleaned under the cache's lock. The cleaner sleeps between its rounds,
//! for as long as a setting says; who changes the setting wakes it if it sleeps.
//!
//! Bugs: the setting is read and written without a lock, and so is the flag that says that the
//! cleaner sleeps, for the cleaner does not take the lock under which others look at it. A wake-up
//! may come after the sleep, and then cuts the next one short. In `cache_fixed` both are atomics.
//!
//! Threads: users. Work: entries that each puts and gets.

use std::collections::HashMap;
use std::time::Duration;

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// Rounds of the cleaner.
const ROUNDS: usize = 2;

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "cache",
    about: "the cleaner of a cache and its users share two settings without a lock",
    origin: Origin::Larger,
    source: Source { file: file!(), text: include_str!("cache.rs") },
    run: |size| run(size, &Plain::default()),
    small: Size::new(1, 1),
    large: Size::new(4, 320_000),
    races: &[
        Race::new("interval-read", "interval-write", Harm::StaleRead, "it sleeps for too long"),
        Race::new("sleeping-write", "sleeping-read", Harm::StaleRead, "the wake-up is too late"),
    ],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "cache_fixed",
    about: "as `cache`, with atomic settings",
    run: |size| run(size, &Atomic::default()),
    races: &[],
    ..PROGRAM
};

/// What the cleaner and others have to know of each other.
trait Settings: Sync {
    fn interval(&self) -> u64;
    fn set_interval(&self, millis: u64);
    fn is_sleeping(&self) -> bool;
    fn set_sleeping(&self, sleeping: bool);
}

#[derive(Default)]
struct Plain {
    interval: Shared<u64>,
    is_sleeping: Shared<bool>,
}

#[racelog::instrument]
impl Settings for Plain {
    fn interval(&self) -> u64 {
        self.interval.get() // [interval-read]
    }

    fn set_interval(&self, millis: u64) {
        self.interval.set(millis); // [interval-write]
    }

    fn is_sleeping(&self) -> bool {
        self.is_sleeping.get() // [sleeping-read]
    }

    fn set_sleeping(&self, sleeping: bool) {
        self.is_sleeping.set(sleeping); // [sleeping-write]
    }
}

#[derive(Default)]
struct Atomic {
    interval: AtomicU64,
    is_sleeping: AtomicBool,
}

impl Settings for Atomic {
    fn interval(&self) -> u64 {
        self.interval.load(Ordering::Relaxed)
    }

    fn set_interval(&self, millis: u64) {
        self.interval.store(millis, Ordering::Relaxed);
    }

    fn is_sleeping(&self) -> bool {
        self.is_sleeping.load(Ordering::Relaxed)
    }

    fn set_sleeping(&self, sleeping: bool) {
        self.is_sleeping.store(sleeping, Ordering::Relaxed);
    }
}

/// Keys with their values, and how many rounds of the cleaner they are still good for.
type Entries = Mutex<HashMap<usize, (usize, usize)>>;

fn run(size: &Size, settings: &impl Settings) {
    let entries = Entries::default();
    thread::scope(|scope| {
        let cleaner = scope.spawn(|| {
            for _ in 0..ROUNDS {
                clean(&entries);
                settings.set_sleeping(true);
                thread::park_timeout(Duration::from_millis(settings.interval()));
                settings.set_sleeping(false);
            }
        });
        for me in 0..size.threads {
            let entries = &entries;
            scope.spawn(move || {
                for key in 0..size.work {
                    exercise(entries, me * size.work + key);
                }
            });
        }
        settings.set_interval(1);
        if settings.is_sleeping() {
            cleaner.thread().unpark();
        }
    });
}

fn clean(entries: &Entries) {
    let mut entries = entries.lock().unwrap();
    entries.retain(|_, (_, rounds)| *rounds > 0);
    entries.values_mut().for_each(|(_, rounds)| *rounds -= 1);
}

/// Puts an entry, and gets it again if it has not expired.
fn exercise(entries: &Entries, key: usize) {
    entries.lock().unwrap().insert(key, (2 * key, 1));
    let found = entries.lock().unwrap().get(&key).copied();
    racelog::check!(found.is_none_or(|(value, _)| value == 2 * key), "the value is the key's");
}
