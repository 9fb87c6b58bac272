//! Threads that wait for several channels at once.
//!
//! A selection is what one thread waits with once: it is entered at every channel, waits until one
//! of them has news, and leaves all of them. Where a message goes from hand to hand both sides may
//! select, and neither offers anything. Then one of them *binds* the other to that arm: a selection
//! is bound once, or closed by its own thread, which then binds others or takes what it found.
//!
//! Nobody holds the locks of two channels, so selections can wait for the same channels in any
//! order. That two selections bind each other at the same time is kept out by one lock for all,
//! under which nothing else is locked.

use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::sync::waiters::Bell;

/// What a thread does at a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Send,
    Receive,
}

/// One wait of one thread.
pub(crate) struct Selection {
    /// [`OPEN`], [`CLOSED`], or the arm that it is bound to, and [`BOUND`].
    standing: AtomicUsize,
    /// Whether it waits for what it then does. Others only look, and cannot be bound.
    takes: bool,
    pub(crate) bell: Bell,
}

const OPEN: usize = 0;
const CLOSED: usize = 1;
const BOUND: usize = 2;

/// Under which a thread that has a selection of its own binds another one.
static BINDING: Mutex<()> = Mutex::new(());

/// The selections that wait for one channel.
#[derive(Default)]
pub(crate) struct Selecting(Vec<Entry>);

/// One arm.
struct Entry {
    selection: Arc<Selection>,
    /// Its place among those of the selection.
    arm: usize,
    side: Side,
}

impl Selection {
    #[cfg(feature = "crossbeam")]
    pub(crate) fn new(takes: bool) -> Self {
        Self { standing: AtomicUsize::new(OPEN), takes, bell: Bell::default() }
    }

    /// Its thread does something else than it could be bound to. False if it is bound already.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn close(&self) -> bool {
        self.settle(CLOSED) || self.standing.load(Ordering::Acquire) == CLOSED
    }

    /// The arm that it is bound to.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn bound(&self) -> Option<usize> {
        self.standing.load(Ordering::Acquire).checked_sub(BOUND)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.standing.load(Ordering::Acquire) == OPEN
    }

    fn settle(&self, standing: usize) -> bool {
        let settled =
            self.standing.compare_exchange(OPEN, standing, Ordering::AcqRel, Ordering::Acquire);
        settled.is_ok()
    }
}

impl Entry {
    /// Whether a thread with a selection of its `own` may bind it.
    fn can_be_bound(&self, side: Side, own: Option<&Selection>) -> bool {
        self.side == side
            && self.selection.takes
            && !own.is_some_and(|own| ptr::eq(own, &*self.selection))
            && self.selection.is_open()
    }
}

impl Selecting {
    /// How many arms wait for a message here, and would take it.
    pub(crate) fn receivers(&self) -> usize {
        let receives = |entry: &&Entry| entry.side == Side::Receive && entry.selection.takes;
        self.0.iter().filter(receives).count()
    }

    /// Enters an arm of a selection. Those who only look out for one like it are woken.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn enter(&mut self, selection: &Arc<Selection>, arm: usize, side: Side) {
        if selection.takes {
            let looks = |entry: &&Entry| entry.side != side && !entry.selection.takes;
            self.0.iter().filter(looks).for_each(|entry| entry.selection.bell.ring());
        }
        self.0.push(Entry { selection: selection.clone(), arm, side });
    }

    /// All arms of a selection leave.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn leave(&mut self, selection: &Arc<Selection>) {
        self.0.retain(|entry| !Arc::ptr_eq(&entry.selection, selection));
    }

    /// There is news for those on this side.
    pub(crate) fn wake(&self, side: Side) {
        let arms = self.0.iter().filter(|entry| entry.side == side);
        arms.for_each(|entry| entry.selection.bell.ring());
    }

    /// Whether there is an arm that [`Self::bind`] would bind.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn can_bind(&self, side: Side, own: Option<&Selection>) -> bool {
        self.0.iter().any(|entry| entry.can_be_bound(side, own))
    }

    /// Binds the selection of another thread to its arm on that side, and closes the `own` one of
    /// the calling thread. False if there is none, or the own one is bound.
    pub(crate) fn bind(&self, side: Side, own: Option<&Selection>) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let _binding = BINDING.lock().unwrap_or_else(PoisonError::into_inner);
        // Only who has the lock could bind it meanwhile.
        if own.is_some_and(|own| own.standing.load(Ordering::Acquire) >= BOUND) {
            return false;
        }
        let arms = self.0.iter().filter(|entry| entry.can_be_bound(side, own));
        for entry in arms {
            if entry.selection.settle(BOUND + entry.arm) {
                entry.selection.bell.ring();
                if let Some(own) = own {
                    own.settle(CLOSED);
                }
                return true;
            }
        }
        false
    }
}
