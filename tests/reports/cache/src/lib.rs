//! A cache that several threads use, with a mistake of each kind.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::sync::atomic::{AtomicBool, Ordering};
use racelog::thread;

pub struct Cache {
    entries: Mutex<u32>,
    journal: Mutex<u32>,
    hits: Shared<u64>,
    newest: Shared<u32>,
    warm: AtomicBool,
    closed: Shared<bool>,
}

impl Cache {
    pub const fn new() -> Self {
        Self {
            entries: Mutex::new(0),
            journal: Mutex::new(0),
            hits: Shared::new(0),
            newest: Shared::new(0),
            warm: AtomicBool::new(false),
            closed: Shared::new(false),
        }
    }

    /// Nothing guards the counter.
    pub fn hit(&self) {
        let hits = self.hits.get();
        self.hits.set(hits + 1);
    }

    /// The two guard `newest` with different locks.
    pub fn insert(&self, key: u32) {
        let _entries = self.entries.lock().unwrap();
        self.newest.set(key);
    }

    pub fn write_back(&self) -> u32 {
        let _journal = self.journal.lock().unwrap();
        self.newest.get()
    }

    /// Only the first takes the lock.
    pub fn evict(&self) {
        let _entries = self.entries.lock().unwrap();
        self.closed.set(true);
    }

    pub fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// A flag that publishes nothing.
    pub fn warm_up(&self) {
        self.newest.set(7);
        self.warm.store(true, Ordering::Relaxed);
    }

    pub fn wait_until_warm(&self) -> u32 {
        while !self.warm.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        self.newest.get()
    }
}

#[racelog::test]
fn hits_are_counted() {
    let cache = Cache::new();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| cache.hit());
        }
    });
}

#[racelog::test]
fn inserts_are_written_back() {
    let cache = Cache::new();
    thread::scope(|scope| {
        scope.spawn(|| cache.insert(3));
        scope.spawn(|| cache.write_back());
    });
}

#[racelog::test]
fn inserts_are_written_back_after_others() {
    let cache = Cache::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            for key in 0..9 {
                cache.insert(key);
            }
        });
        *cache.journal.lock().unwrap() += 1;
        scope.spawn(|| cache.write_back());
    });
}

#[racelog::test]
fn closed_caches_are_seen() {
    let cache = Cache::new();
    thread::scope(|scope| {
        scope.spawn(|| cache.evict());
        cache.is_closed()
    });
}

#[racelog::test]
fn warm_caches_have_entries() {
    let cache = Cache::new();
    thread::scope(|scope| {
        scope.spawn(|| cache.warm_up());
        assert_eq!(cache.wait_until_warm(), 7);
    });
}

#[racelog::test]
fn one_thread_is_enough() {
    let cache = Cache::new();
    cache.insert(1);
    assert_eq!(cache.write_back(), 1);
}
