//! Cells that belong to a thread.
//!
//! An access is exclusive on its cell because it holds the cell's lock. To take a lock that no
//! other thread wants costs more than all the rest of a plain access, and most cells are used by
//! one thread for a long time. So a cell that a thread has used often enough in a row belongs to
//! it: the thread then only says that it is busy with the cell, and looks whether the cell is still
//! its own. Another thread that wants the cell takes the lock, takes the cell away from its owner,
//! and waits until that one is not busy with it. For this the two must not overlook each other,
//! which takes a fence between saying and looking on both sides. The owner does without: the other
//! one makes it [for both](crate::rt::base::fence).

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering, compiler_fence};

use crate::rt::base::fence;
use crate::rt::base::spin::wait_a_little;
use crate::rt::log::kept::Tag;
use crate::rt::log::owner::{self, Owner, enter};
use crate::rt::log::thread_log::ThreadLog;

/// How often in a row a thread uses a cell before the cell is its own: about what it costs to take
/// it away again.
const FIRST_STREAK: u32 = 64;

/// Each time it is taken away, the next one has to use it so many times as often.
const MORE_EACH_TIME: u32 = 4;

/// To whom a cell belongs. Changed only by those who hold the cell's lock, or have it alone.
#[derive(Debug)]
pub(crate) struct Ownership {
    owner: AtomicPtr<Owner>,
    /// What the owner knows the cell by. Only the owner looks at it, and only while it is that.
    tag: AtomicU64,
}

const NOBODY: *mut Owner = ptr::null_mut();

impl Ownership {
    pub(crate) const fn new() -> Self {
        Self { owner: AtomicPtr::new(NOBODY), tag: AtomicU64::new(0) }
    }

    /// Runs `f` exclusively on the cell, without its lock, if it belongs to the calling thread; `f`
    /// must run no code of the program. `None` if that is not so, or if `f` did nothing.
    #[inline(always)]
    pub(crate) fn access<R>(&self, f: impl FnOnce(&ThreadLog, Tag) -> Option<R>) -> Option<R> {
        let me = owner::current();
        // SAFETY: an owner is never freed.
        let owner = unsafe { me.as_ref() }?;
        owner.busy.store(self.address(), Ordering::Release);
        // The processor may still see to the next line first: the thread that takes the cell away
        // makes the fence.
        compiler_fence(Ordering::SeqCst);
        let is_own = ptr::eq(self.owner.load(Ordering::Acquire), me);
        let done = if is_own && !owner.retired.load(Ordering::Acquire) {
            // SAFETY: the log lives for as long as the thread is this owner.
            f(unsafe { &*owner.log.get().cast() }, Tag::from_raw(self.tag.load(Ordering::Relaxed)))
        } else {
            None
        };
        owner.busy.store(0, Ordering::Release);
        done
    }

    /// The cell, whose lock is held, is the calling thread's from now on.
    fn give_to(&self, owner: &'static Owner, tag: Tag) {
        self.tag.store(tag.get(), Ordering::Relaxed);
        self.owner.store(ptr::from_ref(owner).cast_mut(), Ordering::Relaxed);
    }

    /// Makes sure that the holder of the cell's lock is the only user of the cell. If the cell was
    /// used without its lock, returns a stamp that is not before that.
    #[inline]
    pub(crate) fn take_back(&self, streak: &mut Streak) -> Option<u64> {
        let owner = self.owner.load(Ordering::Relaxed);
        if owner == NOBODY {
            None
        } else if ptr::eq(owner, owner::current()) {
            self.owner.store(NOBODY, Ordering::Relaxed);
            // It knows its own clock.
            Some(0)
        } else {
            streak.interrupted();
            Some(self.take_away(owner))
        }
    }

    #[cold]
    fn take_away(&self, owner: *const Owner) -> u64 {
        self.owner.store(NOBODY, Ordering::SeqCst);
        fence::everywhere();
        // SAFETY: an owner is never freed.
        let owner = unsafe { &*owner };
        let mut tries = 0;
        while owner.busy.load(Ordering::Acquire) == self.address() {
            wait_a_little(&mut tries);
        }
        owner.bound.load(Ordering::Relaxed)
    }

    /// As [`Ownership::take_back`], through the only reference to the cell: no thread is busy with
    /// it.
    pub(crate) fn end(&mut self) -> Option<u64> {
        let owner = std::mem::replace(self.owner.get_mut(), NOBODY);
        // SAFETY: an owner is never freed.
        unsafe { owner.as_ref() }.map(|owner| owner.bound.load(Ordering::Relaxed))
    }

    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }
}

/// How often a thread has used a cell in a row, with its lock.
#[derive(Debug)]
pub(crate) struct Streak {
    /// The address of the thread's log. If it is another's by now, no harm is done.
    by: usize,
    length: u32,
    needed: u32,
}

impl Streak {
    pub(crate) const fn new() -> Self {
        Self { by: 0, length: 0, needed: FIRST_STREAK }
    }

    /// The thread with this log has used the cell, whose lock it holds. From now on it may be its
    /// own.
    #[inline]
    pub(crate) fn goes_on(&mut self, log: &ThreadLog, ownership: &Ownership) {
        let by = ptr::from_ref(log).addr();
        if self.by != by {
            (self.by, self.length) = (by, 0);
        }
        self.length = self.length.saturating_add(1);
        if self.length >= self.needed {
            make_own(log, ownership);
        }
    }

    fn interrupted(&mut self) {
        self.length = 0;
        self.needed = self.needed.saturating_mul(MORE_EACH_TIME);
    }
}

#[cold]
fn make_own(log: &ThreadLog, ownership: &Ownership) {
    if log.is_expecting() || !fence::is_available() {
        return;
    }
    if let Some((owner, tag)) = log.adopt() {
        enter(Some(owner));
        ownership.give_to(owner, tag);
    }
}
