//! Goals as lists of event numbers, one list a kind.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Goal, GoalKind, GoalKinds};
use crate::trace::EventId;

/// The event numbers of goals, by kind: for each kind that was looked for a list, which may be
/// empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GoalLists(Vec<(GoalKind, Vec<Vec<u64>>)>);

impl GoalLists {
    /// The lists of these goals.
    pub fn new<'g>(kinds: GoalKinds, goals: impl IntoIterator<Item = &'g Goal>) -> Self {
        let mut lists: Vec<(GoalKind, Vec<Vec<u64>>)> =
            kinds.iter().map(|kind| (kind, Vec::new())).collect();
        for goal in goals {
            if let Some((_, list)) = lists.iter_mut().find(|(kind, _)| *kind == goal.kind()) {
                list.push(goal.events().map(EventId::number).collect());
            }
        }
        lists.iter_mut().for_each(|(_, list)| list.sort_unstable());
        Self(lists)
    }

    /// The kinds that were looked for.
    pub fn kinds(&self) -> GoalKinds {
        self.0.iter().fold(GoalKinds::NONE, |kinds, (kind, _)| kinds.with(*kind))
    }

    /// How many goals of each kind there are, in words.
    pub fn counts(&self) -> String {
        let counts = self.0.iter().filter(|(_, list)| !list.is_empty());
        let counts: Vec<String> = counts
            .map(|(kind, list)| match list.len() {
                1 => format!("1 {}", kind.name()),
                count => format!("{count} {}", kind.plural()),
            })
            .collect();
        let names: Vec<&str> = self.0.iter().map(|(kind, _)| kind.name()).collect();
        if counts.is_empty() { format!("no {}", names.join(", no ")) } else { counts.join(", ") }
    }
}

/// A map from the names of kinds to lists of goals. A goal is the list of its events, those
/// that happen first; one that always has one event is that event.
impl Serialize for GoalLists {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (kind, list) in &self.0 {
            match kind.event_count() {
                Some(1) => map.serialize_entry(kind.list_name(), &list.concat())?,
                _ => map.serialize_entry(kind.list_name(), list)?,
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{Circle, Meant, Pair, Violation};

    #[test]
    fn every_kind_that_was_looked_for_has_a_list() {
        let [a, b, c] = [1, 4, 9].map(|number| EventId::from_number(number).unwrap());
        let goals = [
            Goal::Race(Pair::new(b, a)),
            Goal::Deadlock(Circle::new([c, a, b])),
            Goal::SendToNobody(c),
            Goal::Atomicity(Violation::new(Meant::Marked, a, b, c)),
        ];
        let lists = GoalLists::new(GoalKinds::ALL, &goals);
        let json = serde_json::to_string(&lists).unwrap();
        let expected = "{\"races\":[[1,4]],\"deadlocks\":[[1,4,9]],\"fair_deadlocks\":[],\
                        \"stalls\":[],\"sends\":[9],\"checks\":[],\"panics\":[],\
                        \"atomicity\":[[1,4,9]],\"inferred_atomicity\":[]}";
        assert_eq!(json, expected);
        assert_eq!(lists.counts(), "1 race, 1 deadlock, 1 send to nobody, 1 atomicity violation");
        assert_eq!(GoalLists::new(GoalKinds::RACES, &goals[1..]).counts(), "no race");
    }
}
