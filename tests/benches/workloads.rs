//! The workloads of the bench `recorder`: loops over one operation each.
//!
//! They are written against `shim`, which is racelog with recording compiled in or out. How many
//! events an operation is, is known by construction. A run stays below 300 MB of trace.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::shim::cell::Shared;
use crate::shim::sync::atomic::{AtomicU64, Ordering};
use crate::shim::sync::{Mutex, RwLock};
use crate::shim::thread;

/// A loop to be timed.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    /// How many operations all threads together do.
    pub(crate) operations: u64,
    /// How many events an operation is when it is recorded.
    pub(crate) events: u32,
    /// Does so many operations and says how long that took.
    pub(crate) run: fn(u64) -> Duration,
}

const fn workload(
    name: &'static str,
    operations: u64,
    events: u32,
    run: fn(u64) -> Duration,
) -> Workload {
    Workload { name, operations, events, run }
}

/// All of them.
pub(crate) const WORKLOADS: &[Workload] = &[
    workload("mutex", 1_000_000, 4, |n| mutex(1, n)),
    workload("mutex-2-threads", 1_000_000, 4, |n| mutex(2, n)),
    workload("fetch_add", 4_000_000, 1, |n| fetch_add(1, n)),
    workload("fetch_add-2-threads", 4_000_000, 1, |n| fetch_add(2, n)),
    workload("disjoint-1-thread", 4_000_000, 1, |n| disjoint(1, n)),
    workload("disjoint-2-threads", 4_000_000, 1, |n| disjoint(2, n)),
    workload("rwlock-read", 1_000_000, 3, |n| rwlock_read(1, n)),
    workload("rwlock-read-2-threads", 1_000_000, 3, |n| rwlock_read(2, n)),
    workload("shared-get-set", 2_000_000, 2, shared_get_set),
    workload("shared-2-threads", 2_000_000, 2, shared_contended),
    workload("shared-array", 50_000, 128, shared_array),
    workload("branch", 4_000_000, 1, branch),
    workload("raw-write", 4_000_000, 1, raw_write),
    workload("raw-read-branch", 2_000_000, 2, raw_read),
    workload("spawn-join", 2_000, 8, spawn_join),
    workload("channel-ping-pong", 50_000, 6, channel_ping_pong),
];

/// Acquire, read, write, release.
fn mutex(threads: usize, operations: u64) -> Duration {
    let counter = Mutex::new(0u64);
    on_threads(threads, operations, |_| *counter.lock().unwrap() += 1)
}

/// One read-modify-write, of the same atomic.
fn fetch_add(threads: usize, operations: u64) -> Duration {
    let counter = AtomicU64::new(0);
    on_threads(threads, operations, |_| {
        counter.fetch_add(1, Ordering::SeqCst);
    })
}

/// One read-modify-write, of an atomic that no other thread uses.
fn disjoint(threads: usize, operations: u64) -> Duration {
    /// Far enough apart to share no cache line.
    #[repr(align(256))]
    struct Apart(AtomicU64);

    let counters: Vec<Apart> = (0..threads).map(|_| Apart(AtomicU64::new(0))).collect();
    on_threads(threads, operations, |thread| {
        counters[thread].0.fetch_add(1, Ordering::SeqCst);
    })
}

/// Shared acquire, read, shared release.
fn rwlock_read(threads: usize, operations: u64) -> Duration {
    let lock = RwLock::new(7u64);
    on_threads(threads, operations, |_| {
        black_box(*lock.read().unwrap());
    })
}

/// A plain read and a plain write.
fn shared_get_set(operations: u64) -> Duration {
    let cell = Shared::new(0u64);
    on_threads(1, operations, |_| {
        let cell = black_box(&cell);
        cell.set(cell.get() + 1);
    })
}

/// The same by two threads, which race.
fn shared_contended(operations: u64) -> Duration {
    let cell = Shared::new(0u64);
    on_threads(2, operations, |_| {
        let cell = black_box(&cell);
        cell.set(cell.get() + 1);
    })
}

/// A plain read and a plain write of each of many cells, by a loop.
fn shared_array(operations: u64) -> Duration {
    let cells = [const { Shared::new(0u64) }; 64];
    on_threads(1, operations, |_| {
        for cell in black_box(&cells) {
            cell.set(cell.get() + 1);
        }
    })
}

/// A branch.
fn branch(operations: u64) -> Duration {
    on_threads(1, operations, |_| racelog::branch())
}

/// A write through a raw pointer, by instrumented code.
fn raw_write(operations: u64) -> Duration {
    let mut place = 0u64;
    let pointer = Pointer(&raw mut place);
    on_threads(1, operations, |_| put(black_box(&pointer), 7))
}

/// A read through a raw pointer, by instrumented code, and the branch that follows at its end.
fn raw_read(operations: u64) -> Duration {
    let mut place = 0u64;
    let pointer = Pointer(&raw mut place);
    on_threads(1, operations, |_| {
        black_box(take(black_box(&pointer)));
    })
}

/// A pointer that one thread uses.
struct Pointer(*mut u64);

// SAFETY: only the thread that is timed uses it.
unsafe impl Sync for Pointer {}

#[racelog::instrument]
fn put(pointer: &Pointer, value: u64) {
    // SAFETY: what it points to outlives the thread.
    unsafe { *pointer.0 = value };
}

#[racelog::instrument]
fn take(pointer: &Pointer) -> u64 {
    // SAFETY: what it points to outlives the thread.
    unsafe { *pointer.0 }
}

/// Hands the closure over and forks, begins and takes it, leaves a result and ends, joins and takes
/// that.
fn spawn_join(operations: u64) -> Duration {
    let start = Instant::now();
    for number in 0..operations {
        let thread = thread::spawn(move || black_box(number));
        black_box(thread.join().unwrap());
    }
    start.elapsed()
}

/// There and back: two times load, send and receive.
fn channel_ping_pong(operations: u64) -> Duration {
    use crate::shim::sync::mpsc::channel;

    let (ping, pinged) = channel();
    let (pong, ponged) = channel();
    let other = thread::spawn(move || {
        for number in pinged {
            pong.send(number).unwrap();
        }
    });
    let start = Instant::now();
    for number in 0..operations {
        ping.send(number).unwrap();
        black_box(ponged.recv().unwrap());
    }
    let elapsed = start.elapsed();
    drop(ping);
    other.join().unwrap();
    elapsed
}

/// Calls `f` with the number of the thread, until all threads together have done it so many times.
fn on_threads(threads: usize, operations: u64, f: impl Fn(usize) + Sync) -> Duration {
    let f = &f;
    // Std's, so that it is no part of what is recorded.
    let ready = &Barrier::new(threads);
    thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || {
                    // What is done only once, such as to map the first pages, is not of interest.
                    (0..1000).for_each(|_| f(thread));
                    ready.wait();
                    let start = Instant::now();
                    (0..operations / threads as u64).for_each(|_| f(thread));
                    (start, Instant::now())
                })
            })
            .collect();
        let times: Vec<_> = handles.into_iter().map(|handle| handle.join().unwrap()).collect();
        let first = times.iter().map(|time| time.0).min().expect("there are threads");
        let last = times.iter().map(|time| time.1).max().expect("there are threads");
        last - first
    })
}
