//! What there is to know about the events of a finding.

use racelog::trace::{LocId, LockId, Object, ThreadId, Value};
use rustc_hash::FxHashMap;

use super::{Lock, Part, Place, Role, SourceOp, Subject};
use crate::index::open_after;
use crate::trace::{EventId, Op, Printer, Trace, ValueId};

/// Describes events of a trace. Many findings may have an event in common, so what is known of one
/// is kept.
#[derive(Debug)]
pub struct Describer<'a> {
    trace: &'a Trace,
    printer: Printer<'a>,
    known: FxHashMap<EventId, Part>,
}

impl<'a> Describer<'a> {
    /// Describes the events of this trace.
    pub fn new(trace: &'a Trace) -> Self {
        Self { trace, printer: trace.printer(), known: FxHashMap::default() }
    }

    /// What an object is called.
    pub fn name(&mut self, object: Object) -> String {
        self.printer.name(object).to_owned()
    }

    /// Where an event stands.
    pub fn place(&mut self, event: EventId) -> Option<Place> {
        self.printer.location(event).map(|text| Place::of_trace(&text))
    }

    /// A place in the program.
    pub fn place_at(&mut self, location: LocId) -> Place {
        Place::of_trace(&self.printer.place(location))
    }

    /// Locks that a thread holds.
    pub fn locks(&mut self, held: &[HeldLock]) -> Vec<Lock> {
        let lock = |held: &HeldLock| Lock {
            name: self.name(Object::Lock(held.lock)),
            shared: held.shared,
            taken: self.place(held.taken),
        };
        held.iter().map(lock).collect()
    }

    /// An event as a part of a finding.
    pub fn part(&mut self, event: EventId, role: Role) -> Part {
        let part = match self.known.get(&event) {
            Some(part) => part.clone(),
            None => {
                let part = self.describe(event);
                self.known.insert(event, part.clone());
                part
            }
        };
        Part { role, ..part }
    }

    /// An event as a part of a finding that has no subject: with what the event is done to.
    pub fn part_on(&mut self, event: EventId, role: Role, object: Object) -> Part {
        Part { object: Some(self.name(object)), ..self.part(event, role) }
    }

    fn describe(&mut self, event: EventId) -> Part {
        let op = self.trace.op(event);
        let thread = self.trace.thread(event);
        let (value, new) = values(&op);
        Part {
            role: Role::default(),
            locks: self.locks(&held(self.trace, event)),
            source: SourceOp {
                place: self.place(event),
                operation: operation_of(self.trace, event).to_owned(),
                atomic: op.is_atomic(),
            },
            event: event.number(),
            thread: self.name(Object::Thread(thread)),
            spawned: self.trace.fork_of(thread).and_then(|fork| self.place(fork)),
            object: None,
            value: value.map_or_else(|| "_".to_owned(), |value| self.word(value)),
            new_value: new.map(|value| self.word(value)),
            waits: None,
        }
    }

    fn word(&self, value: ValueId) -> String {
        match self.trace.values().get(value) {
            Value::Opaque => "_".to_owned(),
            _ => self.printer.value(value),
        }
    }

    /// The variable that an event accesses.
    pub fn variable(&mut self, event: EventId) -> Option<Subject> {
        let name = self.name(Object::Var(self.trace.accessed(event)?));
        let var = self.trace.op(event).var();
        let accesses = var.map_or(&[][..], |var| self.trace.events_of_var(var));
        let first = accesses.iter().find(|event| self.trace.location(**event).is_some());
        let what = match accesses.iter().any(|event| self.trace.op(*event).is_atomic()) {
            true => "atomic",
            false => "memory",
        };
        let first_use = first.and_then(|first| self.place(*first));
        Some(Subject { name, what: what.to_owned(), first_use })
    }
}

/// What an event does, as the text format calls it; or `free`, if it gives memory back.
pub fn operation_of(trace: &Trace, event: EventId) -> &'static str {
    if trace.frees(event) { "free" } else { trace.op(event).keyword() }
}

/// The value that an access finds, or leaves if it finds none, and the one that it leaves besides.
fn values(op: &Op) -> (Option<ValueId>, Option<ValueId>) {
    match (op.found().copied(), op.left().copied()) {
        (None, left) => (left, None),
        (found, left) => (found, left),
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
    let before = &trace.events_of_thread(trace.thread(event))[..trace.position(event)];
    held_after(trace, before)
}

/// The locks of the program that a thread holds when the trace ends.
pub fn held_at_end(trace: &Trace, thread: ThreadId) -> Vec<HeldLock> {
    held_after(trace, trace.events_of_thread(thread))
}

fn held_after(trace: &Trace, events: &[EventId]) -> Vec<HeldLock> {
    let open = open_after(trace, events).into_iter();
    let held = open.filter(|region| trace.is_of_program(region.lock)).map(|region| HeldLock {
        lock: region.lock,
        shared: region.shared,
        taken: region.acquire,
    });
    held.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_write_of_what_was_given_back_is_a_free() {
        let text = "a write x 1\nb read x 1\nb write x _\nb write y 2\n#racelog freed x\n";
        let trace: Trace = text.parse().unwrap();
        let operations: Vec<&str> =
            trace.events().map(|event| operation_of(&trace, event)).collect();
        assert_eq!(operations, ["write", "read", "free", "write"]);
    }
}
