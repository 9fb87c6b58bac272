//! Twenty programs with one bug each, and beside each the right version: five lost updates, three
//! checks that are acted upon too late, four deadlocks with data under the locks, three lost
//! wake-ups, two uses after free through raw pointers, three violations of an order.
//!
//! They are ordinary code, and not instrumented. In `plain` the second thread is busy with something
//! else first; in `sleepy` it sleeps, and all of them sleep in between, so that by themselves they
//! hardly ever go wrong.
//!
//! The sources in `programs` are compiled by `tests/bench-schedules`, too, also with shuttle's
//! types. They use what the module around them has: `sync`, `thread`, `look`, `nap` and
//! `be_late`.

#![cfg(all(test, racelog))]

#[macro_use]
#[path = "each_program.rs"]
mod each_program;

/// A test for each program, of its wrong or its right version.
macro_rules! tests {
    ($right:expr; $($program:ident)*) => {
        $(
            #[racelog::test]
            fn $program() {
                super::programs::$program($right);
            }
        )*
    };
}

/// The programs, with so many milliseconds between the threads and for a nap; and their tests.
macro_rules! all {
    ($name:ident, $late:expr, $nap:expr) => {
        #[path = "."]
        mod $name {
            use racelog::{sync, thread};

            /// Reads what a pointer points to.
            unsafe fn look<T: Copy>(place: *const T) -> T {
                // SAFETY: that is for the caller to see to.
                unsafe { racelog::read!(*place) }
            }

            /// The second thread has something else to do first: so the recorded run goes well.
            fn be_late() {
                sleep($late);
                let begun = std::time::Instant::now();
                while $late == 0 && begun.elapsed() < std::time::Duration::from_millis(20) {
                    std::hint::spin_loop();
                }
            }

            /// Something takes time.
            fn nap() {
                sleep($nap);
            }

            fn sleep(millis: u64) {
                if millis > 0 {
                    thread::sleep(std::time::Duration::from_millis(millis));
                }
            }

            #[path = "programs/mod.rs"]
            pub(crate) mod programs;

            mod wrong {
                each_program!(tests, false;);
            }

            mod right {
                each_program!(tests, true;);
            }
        }
    };
}

mod ordinary;

all!(plain, 0, 0);
all!(sleepy, 30, 2);
