//! The clocks of a session's threads.
//!
//! Stamps say what came before what as far as the recorder sees it: through the objects that it
//! records. What orders a thread that no recorded thread has started is not recorded. So its events
//! keep their place in time: a foreign thread looks at the clocks of all others, takes a stamp
//! above them, and makes it the floor of those to come. A thread that did something before, and
//! that the foreign thread knows of by any means, has published its clock. A thread that does
//! something later finds the floor.
//!
//! None of this waits for another thread, and only the beginning of a thread allocates: it may run
//! within the program's allocator.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use super::owner::Owner;
use crate::rt::base::fence;
use crate::rt::base::spin::wait_a_little;

/// What others see of a thread. It is never freed, and used by one thread after the other.
#[repr(align(64))]
struct Seat {
    clock: AtomicU64,
    /// What cells that belong to the thread know it by; null if none do.
    owner: AtomicPtr<Owner>,
    taken: AtomicBool,
    next: Option<&'static Self>,
}

/// The clocks of all threads of a session.
pub(in crate::rt) struct Clocks {
    seats: AtomicPtr<Seat>,
    /// Whether there is a foreign thread: then no cell belongs to a thread.
    foreign: AtomicBool,
}

impl Clocks {
    pub(in crate::rt) const fn new() -> Self {
        Self { seats: AtomicPtr::new(ptr::null_mut()), foreign: AtomicBool::new(false) }
    }

    fn first(&self) -> Option<&'static Seat> {
        // SAFETY: what stands there was leaked, and it has been changed since only by atomics.
        unsafe { self.seats.load(Ordering::Acquire).as_ref() }
    }

    fn seats(&self) -> impl Iterator<Item = &'static Seat> {
        std::iter::successors(self.first(), |seat| seat.next)
    }

    /// The clock of a new thread, at this time or later.
    pub(in crate::rt) fn begin(&self, clock: u64) -> Clock {
        let free = |seat: &&Seat| !seat.taken.swap(true, Ordering::AcqRel);
        let seat = self.seats().find(free).unwrap_or_else(|| self.add());
        // It has to go on from the last thread's, which others may not have looked at.
        seat.clock.fetch_max(clock, Ordering::Relaxed);
        Clock { seat }
    }

    fn add(&self) -> &'static Seat {
        let seat = Box::into_raw(Box::new(Seat {
            clock: AtomicU64::new(0),
            owner: AtomicPtr::new(ptr::null_mut()),
            taken: AtomicBool::new(true),
            next: self.first(),
        }));
        loop {
            // SAFETY: it was just made, and no other thread knows of it.
            let next = unsafe { (*seat).next };
            let before = next.map_or(ptr::null_mut(), |next| ptr::from_ref(next).cast_mut());
            let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
            match self.seats.compare_exchange(before, seat, success, failure) {
                // SAFETY: from now on it is changed only by atomics, and it is never freed.
                Ok(_) => return unsafe { &*seat },
                // SAFETY: still no other thread knows of it.
                Err(_) => unsafe { (*seat).next = self.first() },
            }
        }
    }

    /// The largest stamp that a thread has taken so far, but for those of cells that belong to
    /// threads.
    pub(in crate::rt) fn highest(&self) -> u64 {
        self.seats().map(|seat| seat.clock.load(Ordering::Relaxed)).max().unwrap_or(0)
    }

    /// Whether there is a foreign thread.
    pub(in crate::rt) fn have_foreign(&self) -> bool {
        self.foreign.load(Ordering::SeqCst)
    }

    /// A foreign thread begins: no cell belongs to a thread any more, for an owner looks neither at
    /// its clock nor at the floor. Says a stamp that none of these accesses is above.
    pub(in crate::rt) fn begin_foreign(&self) -> u64 {
        if self.foreign.swap(true, Ordering::SeqCst) {
            return 0;
        }
        let owner = |seat: &Seat| {
            // SAFETY: an owner is never freed.
            unsafe { seat.owner.load(Ordering::SeqCst).as_ref() }
        };
        let owners: Vec<&'static Owner> = self.seats().filter_map(owner).collect();
        if owners.is_empty() {
            return 0;
        }
        owners.iter().for_each(|owner| owner.retire());
        fence::everywhere();
        let bounds = owners.iter().map(|owner| {
            let mut tries = 0;
            while owner.is_busy() {
                wait_a_little(&mut tries);
            }
            owner.bound()
        });
        bounds.max().unwrap_or(0)
    }
}

/// The clock of a thread.
pub(in crate::rt) struct Clock {
    seat: &'static Seat,
}

impl Clock {
    #[inline]
    pub(in crate::rt) fn get(&self) -> u64 {
        self.seat.clock.load(Ordering::Relaxed)
    }

    /// Only the thread itself may do that.
    #[inline]
    pub(in crate::rt) fn set(&self, stamp: u64) {
        self.seat.clock.store(stamp, Ordering::Relaxed);
    }

    /// Cells may belong to the thread from now on, unless there is a foreign thread, which does not
    /// know of it.
    pub(in crate::rt) fn may_own(&self, owner: &'static Owner, clocks: &Clocks) -> bool {
        self.seat.owner.store(ptr::from_ref(owner).cast_mut(), Ordering::SeqCst);
        !clocks.have_foreign()
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.seat.owner.store(ptr::null_mut(), Ordering::Relaxed);
        self.seat.taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_used_again_and_clocks_never_fall() {
        let clocks = Clocks::new();
        let (first, second) = (clocks.begin(3), clocks.begin(5));
        assert_eq!((first.get(), second.get(), clocks.highest()), (3, 5, 5));
        second.set(9);
        drop(second);
        assert_eq!(clocks.highest(), 9);
        let third = clocks.begin(4);
        assert_eq!((third.get(), clocks.seats().count()), (9, 2));
        first.set(20);
        assert_eq!(clocks.highest(), 20);
    }

    #[test]
    fn threads_that_begin_at_once_have_a_seat_each() {
        let clocks = Clocks::new();
        let barrier = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for number in 0..8 {
                let (clocks, barrier) = (&clocks, &barrier);
                scope.spawn(move || {
                    let clock = clocks.begin(number);
                    barrier.wait();
                    clock.set(clock.get() + 1);
                    barrier.wait();
                });
            }
        });
        assert_eq!((clocks.seats().count(), clocks.highest()), (8, 8));
    }
}
