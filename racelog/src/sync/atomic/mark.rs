//! How operations on atomics are recorded.

use std::ptr;
use std::sync::atomic::Ordering;

use crate::rt::{CallSite, Kind, Word, access, exclusive, forget};
use crate::sched::Action;
use crate::trace::{MemoryOrdering, Op};

/// The first field of every atomic: takes no room, has the atomic's address, and forgets it when
/// the atomic is dropped.
///
/// It is a type of its own so that `AtomicPtr<T>` needs no `Drop` of its own, which would ask `T`
/// to outlive it where std's does not.
pub(super) struct Mark;

impl Drop for Mark {
    #[inline]
    fn drop(&mut self) {
        forget(self.address(), Kind::Atomic);
    }
}

/// Each operation is given as std's operation on the atomic that has this mark, and does it exactly
/// once.
///
/// With an ordering that std refuses, std's operation is called without recording: it panics, and
/// the program's panic hook must not run while the recorder's table is locked.
impl Mark {
    #[inline]
    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    #[track_caller]
    #[inline]
    pub(super) fn load<T: Word>(&self, order: Ordering, load: impl Fn() -> T) -> T {
        if matches!(order, Ordering::Release | Ordering::AcqRel) {
            return load();
        }
        let here = Some(CallSite::caller());
        access(self.address(), Kind::Atomic, Some(Action::Load), here, |access| {
            let loaded = load();
            access.loaded(loaded.number(), recorded(order));
            loaded
        })
        .unwrap_or_else(load)
    }

    #[track_caller]
    #[inline]
    pub(super) fn store<T: Word>(
        &self,
        new: T,
        order: Ordering,
        current: impl FnOnce() -> T,
        store: impl Fn(),
    ) {
        if matches!(order, Ordering::Acquire | Ordering::AcqRel) {
            return store();
        }
        let here = Some(CallSite::caller());
        access(self.address(), Kind::Atomic, Some(Action::Store), here, |access| {
            let found = current();
            store();
            access.stored(found.number(), new.number(), recorded(order));
        })
        .unwrap_or_else(store);
    }

    /// `new` says what the operation leaves where it finds its argument.
    #[track_caller]
    #[inline]
    pub(super) fn modify<T: Word>(
        &self,
        order: Ordering,
        modify: impl Fn() -> T,
        new: impl FnOnce(T) -> T,
    ) -> T {
        let here = Some(CallSite::caller());
        access(self.address(), Kind::Atomic, Some(Action::Modify), here, |access| {
            let found = modify();
            access.modified(found.number(), new(found).number(), recorded(order));
            found
        })
        .unwrap_or_else(modify)
    }

    /// `strong` is what a recorded thread does, and `plain` what others do. A recorded failure is
    /// always one that the value explains, so it must not come from a weak operation.
    #[track_caller]
    #[inline]
    pub(super) fn compare_exchange<T: Word>(
        &self,
        new: T,
        success: Ordering,
        failure: Ordering,
        strong: impl FnOnce() -> Result<T, T>,
        plain: impl FnOnce() -> Result<T, T>,
    ) -> Result<T, T> {
        if matches!(failure, Ordering::Release | Ordering::AcqRel) {
            return plain();
        }
        let here = Some(CallSite::caller());
        access(self.address(), Kind::Atomic, Some(Action::Modify), here, |mut access| {
            let result = strong();
            match result {
                Ok(old) => {
                    let (var, old, new) = (access.var(), old.to_value(), new.to_value());
                    access.found(old);
                    access.emit(Op::Cas { var, old, new, ordering: recorded(success) });
                    access.left(new);
                }
                Err(seen) => access.failed(seen.to_value(), recorded(failure)),
            }
            result
        })
        .unwrap_or_else(plain)
    }

    /// The program has the atomic, which holds `value`, for itself.
    #[track_caller]
    #[inline]
    pub(super) fn exclusive<T: Word>(&mut self, value: T) {
        exclusive(self.address(), Kind::Atomic, Some(CallSite::caller()), value.to_value());
    }
}

/// An ordering as traces have it.
#[inline]
pub(super) fn recorded(order: Ordering) -> Option<MemoryOrdering> {
    Some(match order {
        Ordering::Relaxed => MemoryOrdering::Relaxed,
        Ordering::Acquire => MemoryOrdering::Acquire,
        Ordering::Release => MemoryOrdering::Release,
        Ordering::AcqRel => MemoryOrdering::AcqRel,
        // Also what later versions of std may add: nothing is stronger.
        _ => MemoryOrdering::SeqCst,
    })
}

/// The ordering of a failed `compare_and_swap`, which names only one: as strong as that allows.
#[inline]
pub(super) fn on_failure(order: Ordering) -> Ordering {
    match order {
        Ordering::Relaxed | Ordering::Release => Ordering::Relaxed,
        Ordering::Acquire | Ordering::AcqRel => Ordering::Acquire,
        _ => Ordering::SeqCst,
    }
}
