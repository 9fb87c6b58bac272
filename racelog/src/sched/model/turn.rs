//! How a thread waits for its turn.

#[cfg(fibers)]
use std::ptr;
#[cfg(fibers)]
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// What a fiber waits with.
#[cfg(fibers)]
pub(in crate::sched) type Suspend = corosensei::Yielder<(), ()>;

/// What a thread is told when its turn comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::sched) enum Signal {
    /// Go on.
    Go,
    /// The run is over: go away.
    Leave,
}

const WAIT: u32 = 0;
const GO: u32 = 1;
const LEAVE: u32 = 2;

/// How often a waiting thread looks before it sleeps. Long enough for a neighbour to take a few
/// steps on another core, and short against what sleeping and waking cost.
const LOOKS: u32 = 200;

/// Where one thread waits, and others tell it that its turn has come. Not std's parking, whose
/// token belongs to the program.
#[derive(Debug, Default)]
pub(in crate::sched) struct Turn {
    word: AtomicU32,
    sleeper: sleep::Sleeper,
    /// Whether the thread has taken its turn, and does what it wants.
    taken: AtomicBool,
    /// The program's closure is done.
    pub(in crate::sched) left: AtomicBool,
    /// The thread has had its last turn.
    pub(in crate::sched) ended: AtomicBool,
    /// How it waits if it is a fiber; null if not.
    #[cfg(fibers)]
    fiber: AtomicPtr<Suspend>,
}

impl Turn {
    /// The thread goes on, or stops, without having waited.
    pub(in crate::sched) fn set_taken(&self, taken: bool) {
        self.taken.store(taken, Ordering::Relaxed);
    }

    /// Whether the thread has taken its turn. One that was given it may not know yet.
    pub(in crate::sched) fn is_taken(&self) -> bool {
        self.taken.load(Ordering::Relaxed)
    }

    /// Tells the thread; it has taken its last turn already.
    pub(in crate::sched) fn give(&self, word: Signal) {
        let value = if word == Signal::Go { GO } else { LEAVE };
        self.word.store(value, Ordering::Release);
        self.sleeper.wake(&self.word);
    }

    /// It is that of a fiber.
    #[cfg(fibers)]
    pub(in crate::sched) fn belongs_to(&self, fiber: &Suspend) {
        self.fiber.store(ptr::from_ref(fiber).cast_mut(), Ordering::Relaxed);
    }

    /// Tells a fiber of the calling thread, which sleeps in no system. One that has not begun looks
    /// as soon as it does.
    pub(in crate::sched) fn give_to_fiber(&self, word: Signal) {
        let value = if word == Signal::Go { GO } else { LEAVE };
        self.word.store(value, Ordering::Relaxed);
    }

    /// Lets other fibers run until the turn is given, if it is that of a fiber; takes it then.
    #[cfg(fibers)]
    fn suspend(&self) -> Option<Signal> {
        // SAFETY: the fiber outlives its turn, and it is the one that is running.
        let fiber = unsafe { self.fiber.load(Ordering::Relaxed).as_ref() }?;
        if self.word.load(Ordering::Relaxed) == WAIT {
            // It is resumed only when it is its turn.
            fiber.suspend(());
        }
        let word = self.word.load(Ordering::Relaxed);
        self.word.store(WAIT, Ordering::Relaxed);
        Some(if word == LEAVE { Signal::Leave } else { Signal::Go })
    }

    #[cfg(not(fibers))]
    fn suspend(&self) -> Option<Signal> {
        None
    }

    /// Waits for the turn and takes it.
    pub(in crate::sched) fn take(&self) -> Signal {
        let word = self.wait();
        self.set_taken(true);
        word
    }

    fn wait(&self) -> Signal {
        if let Some(word) = self.suspend() {
            return word;
        }
        for _ in 0..LOOKS {
            if self.word.load(Ordering::Acquire) != WAIT {
                break;
            }
            std::hint::spin_loop();
        }
        loop {
            match self.word.swap(WAIT, Ordering::Acquire) {
                WAIT => self.sleeper.sleep(&self.word),
                GO => return Signal::Go,
                _ => return Signal::Leave,
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod sleep {
    use std::ptr;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::WAIT;

    /// Sleeps in the kernel until the word changes.
    #[derive(Debug, Default)]
    pub(super) struct Sleeper {
        asleep: AtomicU32,
    }

    impl Sleeper {
        pub(super) fn sleep(&self, word: &AtomicU32) {
            self.asleep.store(1, Ordering::SeqCst);
            // SAFETY: the word is a valid futex for as long as it is borrowed, and there is no
            // time-out. Whatever ends the wait, the caller looks again.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    word.as_ptr(),
                    libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                    WAIT,
                    ptr::null::<libc::timespec>(),
                );
            }
            self.asleep.store(0, Ordering::Relaxed);
        }

        pub(super) fn wake(&self, word: &AtomicU32) {
            // Either the sleeper sees the new word, or this sees the sleeper.
            std::sync::atomic::fence(Ordering::SeqCst);
            if self.asleep.load(Ordering::SeqCst) == 0 {
                return;
            }
            // SAFETY: the word is a valid futex for as long as it is borrowed.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    word.as_ptr(),
                    libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                    1,
                );
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod sleep {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Condvar, Mutex, PoisonError};

    use super::WAIT;

    /// Sleeps until the word changes.
    #[derive(Debug, Default)]
    pub(super) struct Sleeper {
        mutex: Mutex<()>,
        condvar: Condvar,
    }

    impl Sleeper {
        pub(super) fn sleep(&self, word: &AtomicU32) {
            let mut guard = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
            while word.load(Ordering::Acquire) == WAIT {
                guard = self.condvar.wait(guard).unwrap_or_else(PoisonError::into_inner);
            }
        }

        pub(super) fn wake(&self, _: &AtomicU32) {
            drop(self.mutex.lock().unwrap_or_else(PoisonError::into_inner));
            self.condvar.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    #[test]
    fn turns_go_back_and_forth() {
        let turns = Arc::new([Turn::default(), Turn::default()]);
        let other = thread::spawn({
            let turns = turns.clone();
            move || {
                let mut taken = 0;
                while turns[1].take() == Signal::Go {
                    taken += 1;
                    turns[0].give(Signal::Go);
                }
                taken
            }
        });
        for _ in 0..2000 {
            turns[1].give(Signal::Go);
            assert_eq!(turns[0].take(), Signal::Go);
        }
        turns[1].give(Signal::Leave);
        assert_eq!(other.join().expect("it does not panic"), 2000);
    }
}
