//! What the objects of a trace are called in the source.

use std::collections::BTreeMap;

use crate::project::expression;
use crate::project::{Finding, Occurrence, Place, Sources};

/// The operations whose receiver is their first operand.
const OF_RECEIVER: [&str; 13] = [
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
    /// Looks at the places where the objects are used. The racing accesses say first what the variable
    /// is called.
    pub(super) fn of(finding: &Finding, occurrence: &Occurrence, sources: &impl Sources) -> Self {
        let mut names = Self::default();
        let variable = &occurrence.variable.name;
        for side in &finding.sides {
            names.look(variable, side.place.as_ref(), sources);
            names.is_flag |= side.kind == "write" && writes_flag(side.place.as_ref(), sources);
        }
        for lock in occurrence.accesses.iter().flat_map(|access| &access.locks) {
            names.look(&lock.name, lock.taken.as_ref(), sources);
        }
        for step in &occurrence.steps {
            let words: Vec<&str> = step.what.split(' ').collect();
            match words.as_slice() {
                // What the recorder adds where a closure goes to its thread: the receiver is another.
                ["load" | "store", _, "_", ..] => {}
                [operation, object, ..] if OF_RECEIVER.contains(operation) => {
                    names.look(object, step.place.as_ref(), sources);
                }
                _ => {}
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
    pub(super) fn operation(&self, what: &str) -> String {
        let words: Vec<&str> = what.split(' ').collect();
        let named = words.iter().enumerate().map(|(at, word)| match at {
            0 => word,
            _ => self.best(word),
        });
        named.collect::<Vec<_>>().join(" ")
    }

    /// A text in which objects stand in backticks.
    pub(super) fn text(&self, text: &str) -> String {
        let parts = text.split('`').enumerate().map(|(at, part)| match at % 2 {
            0 => part,
            _ => self.best(part),
        });
        parts.collect::<Vec<_>>().join("`")
    }
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
        assert_eq!(names.operation("write x1 1"), "write self.hits 1");
        assert_eq!(names.operation("wait c1 l2"), "wait c1 self.lock");
        assert_eq!(
            names.text("`l2` can be taken in another order"),
            "`self.lock` can be taken in another order"
        );
    }

    #[test]
    fn two_objects_never_have_one_name() {
        let names = names(&[("l1", "self.lock"), ("l2", "self.lock"), ("l3", "other")]);
        assert_eq!(names.best("l1"), "self.lock (l1)");
        assert_eq!(names.best("l2"), "self.lock (l2)");
        assert_eq!(names.best("l3"), "other");
    }
}
