//! Locks that are in a recorded trace, and not in the program.
//!
//! What is several events of one operation is kept together by a lock that the recorder adds, as
//! for a bounded channel: it is taken without a place in the source. And who writes an `RwLock`, or
//! may come to write it, takes a second lock along with it, so that nobody gets in between when it
//! becomes a reader. To people an `RwLock` is one lock, so the second is not shown; whatever
//! decides something knows both.

use std::sync::OnceLock;

use racelog::trace::LockId;

use super::{EventId, Op, Trace};

/// The locks of a trace that the recorder has added, once a caller has asked for them.
#[derive(Debug, Default)]
pub(super) struct Added(OnceLock<Vec<bool>>);

impl Trace {
    /// Whether a lock is one of the program's, as far as can be seen.
    pub fn is_of_program(&self, lock: LockId) -> bool {
        let added = self.added.0.get_or_init(|| {
            let locks = (0..self.lock_count()).map(|lock| LockId::new(lock as u32));
            locks.map(|lock| is_added(self, lock)).collect()
        });
        !added[lock.index()]
    }

    /// The lock of the program that a lock belongs to: the one that is taken right after a lock
    /// that the recorder has added, or else the lock itself.
    pub fn lock_of_program(&self, lock: LockId) -> LockId {
        if self.is_of_program(lock) {
            return lock;
        }
        let events = self.events_of_lock(lock);
        let first = events.iter().find(|event| matches!(self.op(**event), Op::Acquire(_)));
        let next = first.and_then(|first| beside(self, *first, 1));
        next.and_then(|next| taken(&self.op(next))).unwrap_or(lock)
    }

    /// Whether an event does nothing but take or give back a lock that the recorder has added.
    pub fn is_of_added_lock(&self, event: EventId) -> bool {
        match self.op(event) {
            Op::Acquire(lock) | Op::Release(lock) | Op::AcquireFail(lock) => {
                !self.is_of_program(lock)
            }
            _ => false,
        }
    }
}

fn is_added(trace: &Trace, lock: LockId) -> bool {
    // Traces that were written by hand say what they mean.
    if trace.metadata().program.is_none() {
        return false;
    }
    let events = trace.events_of_lock(lock);
    let Some(first) = events.iter().find(|e| matches!(trace.op(**e), Op::Acquire(_))) else {
        return false;
    };
    if trace.location(*first).is_none() {
        return true;
    }
    // The other lock of an `RwLock` is taken right after it, at the same place, by the same
    // operation.
    let Some(other) = beside(trace, *first, 1).and_then(|next| taken(&trace.op(next))) else {
        return false;
    };
    other != lock && events.iter().all(|event| goes_with(trace, *event, other))
}

/// Whether what an event does to a lock is part of what is done to another one.
fn goes_with(trace: &Trace, event: EventId, other: LockId) -> bool {
    let is_near = |near: EventId| trace.location(near) == trace.location(event);
    match trace.op(event) {
        // A thread that waits for the other one when the trace ends has not got it.
        Op::Acquire(_) => beside(trace, event, 1)
            .is_none_or(|next| is_near(next) && taken(&trace.op(next)) == Some(other)),
        Op::Release(_) => beside(trace, event, -1).is_some_and(|last| {
            is_near(last)
                && match trace.op(last) {
                    Op::Release(lock) | Op::ReadRelease(lock) | Op::ReadAcquire(lock) => {
                        lock == other
                    }
                    _ => false,
                }
        }),
        Op::AcquireFail(_) => true,
        _ => false,
    }
}

fn taken(op: &Op) -> Option<LockId> {
    match *op {
        Op::Acquire(lock) | Op::ReadAcquire(lock) => Some(lock),
        _ => None,
    }
}

/// The next event of the same thread, or the one before.
fn beside(trace: &Trace, event: EventId, by: isize) -> Option<EventId> {
    let at = trace.position(event).checked_add_signed(by)?;
    trace.events_of_thread(trace.thread(event)).get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::format::{Format, Source};
    use racelog::trace::Object;

    /// The locks of a trace that are shown.
    fn shown(text: &str) -> Vec<String> {
        let text = format!("#racelog program p\n{text}");
        let mut source = Source::of_bytes(text.into_bytes(), Some(Format::Text)).unwrap();
        let trace = Trace::load(&mut source, |_| {}).unwrap();
        let mut printer = trace.printer();
        let locks = (0..trace.lock_count()).map(|lock| LockId::new(lock as u32));
        let locks = locks.filter(|lock| trace.is_of_program(*lock));
        locks.map(|lock| printer.name(Object::Lock(lock)).to_owned()).collect()
    }

    const WRITER: &str = "a acquire w @ m.rs:1:1\na acquire l @ m.rs:1:1\na write x 1 @ m.rs:2:1\n";

    #[test]
    fn a_lock_with_readers_is_one_lock() {
        let text = format!(
            "{WRITER}a release l @ m.rs:1:1\na release w @ m.rs:1:1\n\
             b racquire l @ m.rs:3:1\nb rrelease l @ m.rs:3:1\n"
        );
        assert_eq!(shown(&text), ["l"]);
        // A writer that becomes a reader, and one that did not get it.
        let text = format!(
            "{WRITER}b acquire_fail w @ m.rs:4:1\na release l @ m.rs:3:1\na racquire l @ m.rs:3:1\n\
             a release w @ m.rs:3:1\na rrelease l @ m.rs:3:1\n"
        );
        assert_eq!(shown(&text), ["l"]);
        // It may still be held.
        assert_eq!(shown(WRITER), ["l"]);
    }

    #[test]
    fn two_locks_are_two() {
        let ends = "a release l @ m.rs:1:1\na release w @ m.rs:1:1\n";
        // Elsewhere one of them is taken alone, or they are taken at two places.
        let text = format!("{WRITER}{ends}b acquire w @ m.rs:5:1\nb release w @ m.rs:5:1\n");
        assert_eq!(shown(&text), ["w", "l"]);
        let text =
            format!("{WRITER}{ends}").replace("acquire l @ m.rs:1:1", "acquire l @ m.rs:1:9");
        assert_eq!(shown(&text), ["w", "l"]);
        let text = format!("{WRITER}a release w @ m.rs:1:1\na release l @ m.rs:1:1\n");
        assert_eq!(shown(&text), ["w", "l"]);
    }

    #[test]
    fn what_keeps_operations_together_is_not_shown() {
        let text = "a acquire gate\na send c 1 @ m.rs:1:1\na release gate\n";
        assert_eq!(shown(text), [""; 0]);
    }
}
