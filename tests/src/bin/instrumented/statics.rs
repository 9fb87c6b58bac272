//! A counter that is a `static mut`.

use racelog::sync::Mutex;
use racelog::thread;

use crate::{Program, turns, twice};

pub(crate) const PROGRAMS: &[Program] = &[
    ("static", instrumented::counter, plain::counter),
    ("static-bug", instrumented::counter_bug, plain::counter_bug),
];

static LOCK: Mutex<()> = Mutex::new(());
static mut COUNTER: u32 = 5;

twice! {
    pub(crate) fn counter() {
        let second = thread::spawn(second);
        {
            let _guard = LOCK.lock().unwrap();
            // SAFETY: the lock is held.
            unsafe { COUNTER += 2 };
        }
        turns::done();
        second.join().unwrap();
        // SAFETY: there is no other thread.
        unsafe { assert_eq!({ COUNTER }, 8) };
    }

    /// The lock is forgotten.
    pub(crate) fn counter_bug() {
        let second = thread::spawn(second);
        // SAFETY: none.
        unsafe { COUNTER += 2 }; // update without the lock
        turns::done();
        second.join().unwrap();
    }

    fn second() {
        turns::wait_for(1);
        let _guard = LOCK.lock().unwrap();
        // SAFETY: the lock is held.
        unsafe {
            let before = COUNTER; // read with the lock
            COUNTER = before + 1;
        }
    }
}
