//! A hand-written `Once`: the first who comes makes the value.

use racelog::cell::UnsafeCell;
use racelog::sync::atomic::{AtomicU32, Ordering};
use racelog::thread;

use crate::{Program, turns, twice};

pub(crate) const PROGRAMS: &[Program] = &[
    ("once", instrumented::once, plain::once),
    ("once-bug", instrumented::once_bug, plain::once_bug),
];

const EMPTY: u32 = 0;
const BUSY: u32 = 1;
const READY: u32 = 2;

struct Once {
    state: AtomicU32,
    value: UnsafeCell<char>,
}

// SAFETY: the value is written once, by whoever has made the state busy, and then only read.
unsafe impl Sync for Once {}

static ONCE: Once = Once { state: AtomicU32::new(EMPTY), value: UnsafeCell::new(' ') };

twice! {
    fn init(once: &Once, value: char) {
        let found =
            once.state.compare_exchange(EMPTY, BUSY, Ordering::Acquire, Ordering::Acquire);
        if found.is_ok() {
            // SAFETY: nobody else writes, and nobody reads yet.
            unsafe { *once.value.get() = value };
            once.state.store(READY, Ordering::Release);
        }
    }

    fn get(once: &Once) -> Option<char> {
        if once.state.load(Ordering::Acquire) != READY {
            return None;
        }
        // SAFETY: it was written, and is only read from now on.
        Some(unsafe { *once.value.get() })
    }

    /// Takes a value that is being made for one that is.
    fn get_early(once: &Once) -> Option<char> {
        if once.state.load(Ordering::Acquire) == EMPTY {
            return None;
        }
        // SAFETY: none, it may still be written.
        Some(unsafe { once.value.get().read() }) // early read
    }

    pub(crate) fn once() {
        let second = thread::spawn(|| {
            turns::wait_for(1);
            assert_eq!(get(&ONCE), Some('a'));
        });
        init(&ONCE, 'a');
        turns::done();
        second.join().unwrap();
    }

    /// The one who looks comes while the value is made.
    pub(crate) fn once_bug() {
        let second = thread::spawn(|| {
            turns::wait_for(1);
            let _ = get_early(&ONCE);
            turns::done();
        });
        let found = ONCE.state.compare_exchange(EMPTY, BUSY, Ordering::Acquire, Ordering::Acquire);
        assert!(found.is_ok());
        turns::done();
        turns::wait_for(2);
        // SAFETY: nobody else writes.
        unsafe { *ONCE.value.get() = 'b' }; // write
        ONCE.state.store(READY, Ordering::Release);
        second.join().unwrap();
    }
}
