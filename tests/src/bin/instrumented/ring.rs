//! A ring buffer for one producer and one consumer, on raw pointers.

use racelog::sync::atomic::{AtomicUsize, Ordering};
use racelog::thread;

use crate::{Program, turns, twice};

pub(crate) const PROGRAMS: &[Program] = &[
    ("ring", instrumented::ring, plain::ring),
    ("ring-bug", instrumented::ring_bug, plain::ring_bug),
];

const CAPACITY: usize = 2;

/// The places, and how many were ever filled and emptied.
struct Ring {
    places: *mut u64,
    filled: AtomicUsize,
    emptied: AtomicUsize,
}

// SAFETY: the counters say whose turn each place is.
unsafe impl Send for Ring {}
// SAFETY: as above, for one producer and one consumer.
unsafe impl Sync for Ring {}

impl Ring {
    fn new() -> &'static Self {
        let places: &'static mut [u64; CAPACITY] = Box::leak(Box::new([0; CAPACITY]));
        Box::leak(Box::new(Self {
            places: places.as_mut_ptr(),
            filled: AtomicUsize::new(0),
            emptied: AtomicUsize::new(0),
        }))
    }
}

twice! {
    fn push(ring: &Ring, value: u64) -> bool {
        let filled = ring.filled.load(Ordering::Relaxed);
        if filled - ring.emptied.load(Ordering::Acquire) == CAPACITY {
            return false;
        }
        // SAFETY: the place is empty, and only this thread fills places.
        unsafe { ring.places.add(filled % CAPACITY).write(value) };
        ring.filled.store(filled + 1, Ordering::Release);
        true
    }

    /// Says that the place is filled before it is.
    fn push_early(ring: &Ring, value: u64) -> bool {
        let filled = ring.filled.load(Ordering::Relaxed);
        if filled - ring.emptied.load(Ordering::Acquire) == CAPACITY {
            return false;
        }
        ring.filled.store(filled + 1, Ordering::Release);
        // SAFETY: none, the consumer may be there already.
        unsafe { *ring.places.add(filled % CAPACITY) = value }; // late write
        true
    }

    fn pop(ring: &Ring) -> Option<u64> {
        let emptied = ring.emptied.load(Ordering::Relaxed);
        if emptied == ring.filled.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: the place is filled, and only this thread empties places.
        let value = unsafe { *ring.places.add(emptied % CAPACITY) }; // read
        ring.emptied.store(emptied + 1, Ordering::Release);
        Some(value)
    }

    pub(crate) fn ring() {
        let ring = Ring::new();
        let consumer = thread::spawn(move || consume(ring));
        assert!(push(ring, 7));
        turns::done();
        consumer.join().unwrap();
    }

    pub(crate) fn ring_bug() {
        let ring = Ring::new();
        let consumer = thread::spawn(move || consume(ring));
        assert!(push_early(ring, 7));
        turns::done();
        consumer.join().unwrap();
    }

    fn consume(ring: &Ring) {
        turns::wait_for(1);
        assert_eq!(pop(ring), Some(7));
    }
}
