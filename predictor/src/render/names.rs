//! What the objects of a trace are called in the source.

use std::collections::BTreeMap;

use crate::finding::{Occurrence, Operation, Place, WaitKind, Waits};
use crate::project::{Sources, expression};

/// The operations whose receiver is their first operand.
const OF_RECEIVER: [&str; 20] = [
    "acquire",
    "racquire",
    "acquire_fail",
    "racquire_fail",
    "read",
    "write",
    "load",
    "store",
    "rmw",
    "cas",
    "cas_fail",
    "send",
    "recv",
    "recv_closed",
    "wait",
    "wake",
    "notify_one",
    "notify_all",
    "once_begin",
    "once_wait",
];

/// What the objects of an occurrence are called in the source, by what the trace calls them.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    by_trace: BTreeMap<String, String>,
    /// Whether a racing access writes `true` or `false`: traces have numbers for them.
    pub(super) is_flag: bool,
}

fn writes_flag(place: Option<&Place>, sources: &impl Sources) -> bool {
    let call = place.and_then(|place| {
        let text = sources.read(&place.file)?;
        let found = expression::at(&text, place)?;
        Some(text[found.span].to_owned())
    });
    call.is_some_and(|call| call.ends_with("(true)") || call.ends_with("(false)"))
}

impl Names {
    /// Looks at the places where the objects are used. The parts of the finding say first what its
    /// subject is called.
    pub(super) fn of(occurrence: &Occurrence, sources: &impl Sources) -> Self {
        let mut names = Self::default();
        for part in &occurrence.parts {
            let subject = occurrence.subject.as_ref().map(|subject| subject.name.as_str());
            let place = part.source.place.as_ref();
            let operation = part.source.operation.as_str();
            // Who joins a thread does not name it so, nor does a waiter the lock that it needs
            // back.
            let is_lock = |waits: &Waits| waits.what == WaitKind::Lock && operation == "wake";
            let is_receiver = subject.is_some()
                || OF_RECEIVER.contains(&operation) && !part.waits.as_ref().is_some_and(is_lock);
            if let Some(object) = part.object.as_deref().or(subject).filter(|_| is_receiver) {
                names.look(object, place, sources);
            }
            names.is_flag |= part.source.operation == "write" && writes_flag(place, sources);
        }
        for lock in occurrence.parts.iter().flat_map(|part| &part.locks) {
            names.look(&lock.name, lock.taken.as_ref(), sources);
        }
        for step in &occurrence.steps {
            let Operation { operation, object, .. } = &step.action.does;
            if let Some(object) = object
                && OF_RECEIVER.contains(&operation.as_str())
                && !is_opaque_transfer(&step.action.does)
            {
                names.look(object, step.action.place.as_ref(), sources);
            }
        }
        names.tell_apart();
        names
    }

    fn look(&mut self, object: &str, place: Option<&Place>, sources: &impl Sources) {
        if self.by_trace.contains_key(object) {
            return;
        }
        let expression = place.and_then(|place| {
            let text = sources.read(&place.file)?;
            expression::at(&text, place)
        });
        let Some((name, is_receiver)) = expression.and_then(|it| Some((it.name?, it.is_receiver)))
        else {
            return;
        };
        // A method of a raw pointer accesses what it points to.
        let is_memory = object.starts_with('[') && is_receiver;
        let name = if is_memory { format!("*{name}") } else { name };
        self.by_trace.insert(object.to_owned(), name);
    }

    /// The same expression may be another object elsewhere.
    fn tell_apart(&mut self) {
        let mut users: BTreeMap<&str, usize> = BTreeMap::new();
        for name in self.by_trace.values() {
            *users.entry(name).or_default() += 1;
        }
        let shared: Vec<String> = users
            .into_iter()
            .filter(|(_, users)| *users > 1)
            .map(|(name, _)| name.to_owned())
            .collect();
        for (object, name) in &mut self.by_trace {
            if shared.contains(name) {
                *name = format!("{name} ({object})");
            }
        }
    }

    /// What an object is called in the source, if that is known.
    pub(super) fn in_source(&self, object: &str) -> Option<&str> {
        self.by_trace.get(object).map(String::as_str)
    }

    /// What an object is called in the source, or else in the trace.
    pub(super) fn best<'a>(&'a self, object: &'a str) -> &'a str {
        self.in_source(object).unwrap_or(object)
    }

    /// An operation as the text format has it, with the names of the source.
    pub(super) fn operation(&self, does: &Operation) -> String {
        let mut text = does.operation.clone();
        let operands = does.operands.iter().flat_map(|operands| operands.split(' '));
        for word in does.object.as_deref().into_iter().chain(operands) {
            text.push(' ');
            text.push_str(self.best(word));
        }
        text
    }
}

/// Whether an operation is what the recorder adds where a closure goes to its thread: a load or a
/// store of no known value. Its receiver is another object.
pub(super) fn is_opaque_transfer(does: &Operation) -> bool {
    matches!(does.operation.as_str(), "load" | "store") && does.first_operand() == Some("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(pairs: &[(&str, &str)]) -> Names {
        let pairs = pairs.iter().map(|(object, name)| ((*object).to_owned(), (*name).to_owned()));
        let mut names = Names { by_trace: pairs.collect(), is_flag: false };
        names.tell_apart();
        names
    }

    #[test]
    fn names_of_the_source_replace_those_of_the_trace() {
        let names = names(&[("x1", "self.hits"), ("l2", "self.lock")]);
        let operation = |words| names.operation(&Operation::of_words(words));
        assert_eq!(operation("write x1 1"), "write self.hits 1");
        assert_eq!(operation("wait c1 l2"), "wait c1 self.lock");
        assert_eq!(operation("begin"), "begin");
    }

    #[test]
    fn two_objects_never_have_one_name() {
        let names = names(&[("l1", "self.lock"), ("l2", "self.lock"), ("l3", "other")]);
        assert_eq!(names.best("l1"), "self.lock (l1)");
        assert_eq!(names.best("l2"), "self.lock (l2)");
        assert_eq!(names.best("l3"), "other");
    }
}
