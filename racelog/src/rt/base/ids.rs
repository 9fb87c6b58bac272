//! Numbers that tell objects apart, in all traces of a process.

use std::sync::atomic::{AtomicU32, Ordering};

/// A number that an object gets at its first use. It moves with the object, and an object made
/// later in the same place starts without one: so two objects never have the same.
#[derive(Debug)]
pub(crate) struct NumberedId(AtomicU32);

impl NumberedId {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Whether the object was ever used.
    pub(crate) fn is_given(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// The number; the first time, the next one of `counter`.
    #[inline]
    pub(crate) fn get(&self, counter: &AtomicU32) -> u32 {
        match self.0.load(Ordering::Relaxed) {
            0 => {
                let fresh = counter.fetch_add(1, Ordering::Relaxed);
                match self.0.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => fresh,
                    Err(other) => other,
                }
            }
            number => number,
        }
    }
}

/// The next numbers of each kind. Numbers hold for the whole process, so that objects that tests
/// share keep theirs in every trace.
pub(crate) mod counters {
    use std::sync::atomic::AtomicU32;

    pub(crate) static VARS: AtomicU32 = AtomicU32::new(1);
    pub(crate) static LOCKS: AtomicU32 = AtomicU32::new(1);
    pub(crate) static CONDVARS: AtomicU32 = AtomicU32::new(1);
    pub(crate) static CHANNELS: AtomicU32 = AtomicU32::new(1);
    pub(crate) static BARRIERS: AtomicU32 = AtomicU32::new(1);
}
