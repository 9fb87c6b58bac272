//! What is to be known about an access.

use racelog::trace::{LockId, Object};
use serde::Serialize;

use crate::order::Locksets;
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
    let locks = held.iter().map(|(lock, shared)| {
        let name = printer.name(Object::Lock(*lock));
        if *shared { format!("{name} (shared)") } else { name.to_owned() }
    });
    let locks = locks.collect();
    Access {
        event: event.number(),
        thread: printer.name(Object::Thread(trace.thread(event))).to_owned(),
        location: printer.location(event),
        kind: op.keyword(),
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

/// The locks that an event's thread holds when its turn comes, and whether it shares them.
fn held(trace: &Trace, event: EventId) -> Vec<(LockId, bool)> {
    let thread = trace.thread(event);
    let mut sets = Locksets::new(trace.thread_count());
    for before in &trace.events_of_thread(thread)[..trace.position(event)] {
        sets.step(thread, &trace.op(*before));
    }
    sets.locks(sets.of(thread)).map(|(lock, exclusive)| (lock, !exclusive)).collect()
}
