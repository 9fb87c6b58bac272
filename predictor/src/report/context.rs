//! What is to be known about an access.

use racelog::trace::{LockId, Object};
use serde::Serialize;

use crate::index::Regions;
use crate::trace::{EventId, Op, Trace, ValueId};

/// An access, and what surrounds it.
#[derive(Clone, Debug, Serialize)]
pub struct Access {
    /// Its number.
    pub event: u64,
    /// Its thread.
    pub thread: String,
    /// Where in the program it stands.
    pub location: Option<String>,
    /// The operation, as the text format calls it.
    pub kind: &'static str,
    /// Whether it is atomic.
    pub atomic: bool,
    /// The value that was read, or written if it only writes; `_` if it was not recorded.
    pub value: String,
    /// The value that a read-modify-write wrote.
    pub new_value: Option<String>,
    /// The locks that the thread holds; shared ones are marked.
    pub locks: Vec<String>,
}

/// Describes an access.
pub fn describe(trace: &Trace, event: EventId) -> Access {
    let op = trace.op(event);
    let (value, new) = values(&op);
    let mut printer = trace.printer();
    let word = |value: ValueId| match trace.values().get(value) {
        racelog::trace::Value::Opaque => "_".to_owned(),
        _ => trace.printer().value(value),
    };
    let held = held(trace, event);
    let locks = held.iter().map(|held| {
        let name = printer.name(Object::Lock(held.lock));
        if held.shared { format!("{name} (shared)") } else { name.to_owned() }
    });
    let locks = locks.collect();
    Access {
        event: event.number(),
        thread: printer.name(Object::Thread(trace.thread(event))).to_owned(),
        location: printer.location(event),
        kind: if trace.frees(event) { "free" } else { op.keyword() },
        atomic: op.is_atomic(),
        value: value.map_or_else(|| "_".to_owned(), word),
        new_value: new.map(word),
        locks,
    }
}

/// The value that an access finds, or leaves if it finds none, and the one that it leaves besides.
fn values(op: &Op) -> (Option<ValueId>, Option<ValueId>) {
    match *op {
        Op::Read { value, .. }
        | Op::Load { value, .. }
        | Op::Write { value, .. }
        | Op::Store { value, .. }
        | Op::Exclusive { value, .. }
        | Op::CasFail { seen: value, .. } => (Some(value), None),
        Op::Rmw { old, new, .. } | Op::Cas { old, new, .. } => (Some(old), Some(new)),
        _ => (None, None),
    }
}

/// A lock that a thread holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeldLock {
    /// Which.
    pub lock: LockId,
    /// Whether others may share it.
    pub shared: bool,
    /// The event that took it.
    pub taken: EventId,
}

/// The locks of the program that an event's thread holds when its turn comes.
pub fn held(trace: &Trace, event: EventId) -> Vec<HeldLock> {
    let regions = Regions::of_one_thread(trace, trace.thread(event));
    let open = regions.begun_before(trace, event).filter(|region| region.is_open_at(event));
    let of_program = open.filter(|region| trace.is_of_program(region.lock));
    let mut held: Vec<HeldLock> = of_program
        .map(|region| HeldLock { lock: region.lock, shared: region.shared, taken: region.acquire })
        .collect();
    // Of a lock that is held twice, the region that began last says since when.
    held.sort_by_key(|held| held.lock);
    held.dedup_by_key(|held| held.lock);
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::format::{Format, Source};

    #[test]
    fn the_last_write_of_what_was_given_back_is_a_free() {
        let text = "a write x 1\nb read x 1\nb write x _\nb write y 2\n#racelog freed x\n";
        let mut source = Source::of_bytes(text.as_bytes().to_vec(), Some(Format::Text)).unwrap();
        let trace = Trace::load(&mut source, |_| {}).unwrap();
        let kinds: Vec<&str> = trace.events().map(|event| describe(&trace, event).kind).collect();
        assert_eq!(kinds, ["write", "read", "free", "write"]);
    }
}
