//! What a thread is about to do.

use crate::rt::{Action, CallSite};

/// What a thread does next, as soon as it may.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intent {
    pub(crate) action: Action,
    /// The address of the object, or the key of a thread; 0 for none.
    pub(crate) object: usize,
    /// How many bytes of memory are accessed from there; 1 where the address stands for an object.
    pub(crate) size: usize,
    /// Another object that the operation touches, such as the lock of a condvar; 0 for none.
    pub(crate) second: usize,
    /// Whether it may end by a time-out, so that it depends on the clock.
    pub(crate) timed: bool,
    /// Whether it also waits while another thread waits to take the same lock exclusively.
    pub(crate) after_writers: bool,
    pub(crate) here: Option<CallSite>,
}

impl Intent {
    pub(crate) fn new(action: Action, object: usize, here: Option<CallSite>) -> Self {
        Self { action, object, size: 1, second: 0, timed: false, after_writers: false, here }
    }

    /// Of so many bytes of memory.
    pub(crate) fn with_size(self, size: usize) -> Self {
        Self { size, ..self }
    }

    pub(crate) fn with_second(self, second: usize) -> Self {
        Self { second, ..self }
    }

    pub(crate) fn after_writers(self, after_writers: bool) -> Self {
        Self { after_writers, ..self }
    }

    pub(crate) fn timed(self, timed: bool) -> Self {
        Self { timed, ..self }
    }

    /// Whether two threads that are about to do this race: both access the same memory, at least
    /// one of them writes, and at least one of the accesses is not atomic.
    pub(crate) fn races_with(&self, other: &Self) -> bool {
        self.overlaps(other)
            && self.action.is_access()
            && other.action.is_access()
            && !(self.action.only_reads() && other.action.only_reads())
            && !(self.action.is_atomic() && other.action.is_atomic())
    }

    fn overlaps(&self, other: &Self) -> bool {
        let ends_after = |a: &Self, b: &Self| a.object.saturating_add(a.size) > b.object;
        ends_after(self, other) && ends_after(other, self)
    }

    /// Whether the order of the two operations, by different threads, can make a difference.
    pub(crate) fn depends_on(&self, other: &Self) -> bool {
        let unruly = |intent: &Self| intent.timed || matches!(intent.action, Action::Yield);
        if unruly(self) || unruly(other) {
            return true;
        }
        let shares =
            |object: usize| object != 0 && (object == other.object || object == other.second);
        let is_object = self.object != 0 && other.object != 0;
        (is_object && self.overlaps(other) || shares(self.object) || shares(self.second))
            && !(self.action.only_reads() && other.action.only_reads())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intent(action: Action, object: usize) -> Intent {
        Intent::new(action, object, None)
    }

    #[test]
    fn a_race_needs_a_write_and_a_plain_access_of_one_object() {
        let race = |a, b| intent(a, 8).races_with(&intent(b, 8));
        assert!(race(Action::Read, Action::Write));
        assert!(race(Action::Load, Action::Write));
        assert!(race(Action::Modify, Action::Read));
        assert!(!race(Action::Read, Action::Load));
        assert!(!race(Action::Store, Action::Modify));
        assert!(!race(Action::Lock, Action::Write));
        assert!(!intent(Action::Write, 8).races_with(&intent(Action::Write, 16)));
    }

    #[test]
    fn accesses_of_memory_that_overlaps_race() {
        let bytes = |action, object, size| intent(action, object).with_size(size);
        let whole = bytes(Action::Write, 8, 8);
        for part in [bytes(Action::Read, 8, 1), bytes(Action::Read, 15, 4)] {
            assert!(whole.races_with(&part) && part.races_with(&whole));
            assert!(whole.depends_on(&part) && part.depends_on(&whole));
        }
        for other in [bytes(Action::Read, 16, 8), bytes(Action::Read, 4, 4)] {
            assert!(!whole.races_with(&other) && !other.races_with(&whole));
            assert!(!whole.depends_on(&other) && !other.depends_on(&whole));
        }
    }

    #[test]
    fn operations_on_different_objects_and_reads_commute() {
        let depend = |a: Intent, b: Intent| a.depends_on(&b) && b.depends_on(&a);
        assert!(depend(intent(Action::Lock, 8), intent(Action::Unlock, 8)));
        assert!(depend(intent(Action::Wait, 8).with_second(16), intent(Action::Lock, 16)));
        assert!(depend(intent(Action::Sleep, 0).timed(true), intent(Action::Read, 8)));
        assert!(!intent(Action::Lock, 8).depends_on(&intent(Action::Lock, 16)));
        assert!(!intent(Action::Load, 8).depends_on(&intent(Action::Read, 8)));
        assert!(!intent(Action::Begin, 0).depends_on(&intent(Action::Begin, 0)));
    }
}
