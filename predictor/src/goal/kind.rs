//! The kinds of goals, and sets of them.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The kinds of goals.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum GoalKind {
    /// Two conflicting accesses are next and enabled at once.
    Race,
    /// Threads wait for each other in a circle.
    Deadlock,
    /// The same, where writers that wait for a lock keep readers out.
    FairDeadlock,
    /// Every thread waits, and some for what nobody is left to do.
    Stall,
    /// A message is about to be sent, and all receivers are dropped.
    SendToNobody,
    /// A check of the program is about to be made, and fails.
    FailedCheck,
    /// A check of the language is about to be made, and fails.
    Panic,
    /// Another thread's access has come between two of a region that the program marks as atomic.
    Atomicity,
    /// The same of two that the trace shows to be meant as one step.
    InferredAtomicity,
    /// The same of two that may be meant as one step.
    AssumedAtomicity,
}

impl GoalKind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Race,
        Self::Deadlock,
        Self::FairDeadlock,
        Self::Stall,
        Self::SendToNobody,
        Self::FailedCheck,
        Self::Panic,
        Self::Atomicity,
        Self::InferredAtomicity,
        Self::AssumedAtomicity,
    ];

    /// What a goal of this kind is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Race => "race",
            Self::Deadlock => "deadlock",
            Self::FairDeadlock => "deadlock by waiting writers",
            Self::Stall => "stall",
            Self::SendToNobody => "send to nobody",
            Self::FailedCheck => "failed check",
            Self::Panic => "panic",
            Self::Atomicity => "atomicity violation",
            Self::InferredAtomicity => "inferred atomicity violation",
            Self::AssumedAtomicity => "assumed atomicity violation",
        }
    }

    /// What several goals of this kind are called.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Race => "races",
            Self::Deadlock => "deadlocks",
            Self::FairDeadlock => "deadlocks by waiting writers",
            Self::Stall => "stalls",
            Self::SendToNobody => "sends to nobody",
            Self::FailedCheck => "failed checks",
            Self::Panic => "panics",
            Self::Atomicity => "atomicity violations",
            Self::InferredAtomicity => "inferred atomicity violations",
            Self::AssumedAtomicity => "assumed atomicity violations",
        }
    }

    /// What goals of this kind are called where many are listed, and by `--goals`. Waiting writers
    /// are asked for along with all deadlocks.
    pub const fn list_name(self) -> &'static str {
        match self {
            Self::Race => "races",
            Self::Deadlock => "deadlocks",
            Self::FairDeadlock => "fair_deadlocks",
            Self::Stall => "stalls",
            Self::SendToNobody => "sends",
            Self::FailedCheck => "checks",
            Self::Panic => "panics",
            Self::Atomicity => "atomicity",
            Self::InferredAtomicity => "inferred_atomicity",
            Self::AssumedAtomicity => "assumed_atomicity",
        }
    }

    /// How many events such a goal has, if it is always as many.
    pub const fn event_count(self) -> Option<usize> {
        match self {
            Self::Race => Some(2),
            Self::SendToNobody | Self::FailedCheck | Self::Panic => Some(1),
            Self::Atomicity | Self::InferredAtomicity | Self::AssumedAtomicity => Some(3),
            Self::Deadlock | Self::FairDeadlock | Self::Stall => None,
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u8
    }
}

/// A set of kinds of goals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GoalKinds(u16);

impl GoalKinds {
    /// No kind.
    pub const NONE: Self = Self(0);
    /// Races, and nothing else.
    pub const RACES: Self = Self(GoalKind::Race.bit());
    /// States in which threads wait for each other, or for ever.
    pub const OF_WAITING: Self =
        Self::NONE.with(GoalKind::Deadlock).with(GoalKind::FairDeadlock).with(GoalKind::Stall);
    /// All kinds but those of which something has to be assumed.
    pub const ALL: Self = Self((1 << GoalKind::ALL.len()) - 1).without(GoalKind::AssumedAtomicity);

    /// Whether a kind is among them.
    pub const fn contains(self, kind: GoalKind) -> bool {
        self.0 & kind.bit() != 0
    }

    /// Those that are among them.
    pub fn iter(self) -> impl Iterator<Item = GoalKind> {
        GoalKind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }

    /// Whether it has one of these.
    pub const fn meets(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Those that are among these or among others.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// What is said if there is none of them: `no race, deadlock or stall`.
    pub fn none_of_them(self) -> String {
        // Deadlocks by waiting writers are deadlocks. And of checks and atomic regions a trace has
        // what is recorded as such: of others nothing is claimed.
        let of_values = |kind: &GoalKind| {
            matches!(
                kind,
                GoalKind::FailedCheck
                    | GoalKind::Panic
                    | GoalKind::Atomicity
                    | GoalKind::InferredAtomicity
                    | GoalKind::AssumedAtomicity
            )
        };
        let only_these = self.iter().all(|kind| of_values(&kind));
        let kinds = self
            .iter()
            .filter(|kind| *kind != GoalKind::FairDeadlock && (only_these || !of_values(kind)));
        let names: Vec<&str> = kinds.map(GoalKind::name).collect();
        match names.as_slice() {
            [] => "nothing".to_owned(),
            [one] => format!("no {one}"),
            [others @ .., last] => format!("no {} or {last}", others.join(", ")),
        }
    }

    /// The same and one more.
    #[must_use]
    pub const fn with(self, kind: GoalKind) -> Self {
        Self(self.0 | kind.bit())
    }

    /// The same without one.
    #[must_use]
    pub const fn without(self, kind: GoalKind) -> Self {
        Self(self.0 & !kind.bit())
    }
}

/// `all`, or names separated by commas: `races,deadlocks,stalls,sends,checks,atomicity`.
impl FromStr for GoalKinds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut kinds = Self::NONE;
        for word in text.split(',').map(str::trim) {
            kinds = match word {
                "all" => Self::ALL,
                "races" => kinds.with(GoalKind::Race),
                "deadlocks" => kinds.with(GoalKind::Deadlock).with(GoalKind::FairDeadlock),
                "stalls" => kinds.with(GoalKind::Stall),
                "sends" => kinds.with(GoalKind::SendToNobody),
                "checks" => kinds.with(GoalKind::FailedCheck).with(GoalKind::Panic),
                "atomicity" => kinds.with(GoalKind::Atomicity).with(GoalKind::InferredAtomicity),
                _ => {
                    return Err(format!(
                        "`{word}` is nothing to look for: use races, deadlocks, stalls, sends, checks, \
                         atomicity or all"
                    ));
                }
            };
        }
        Ok(kinds)
    }
}

/// A list of the names that lists of goals have.
impl Serialize for GoalKinds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(GoalKind::list_name))
    }
}

/// Kinds that a later version of racelog knows are left out.
impl<'de> Deserialize<'de> for GoalKinds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        let kinds = GoalKind::ALL.into_iter();
        let named = kinds.filter(|kind| names.iter().any(|name| name == kind.list_name()));
        Ok(named.fold(Self::NONE, Self::with))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_named() {
        assert_eq!(GoalKinds::RACES.none_of_them(), "no race");
        let all = "no race, deadlock, stall or send to nobody";
        assert_eq!(GoalKinds::ALL.none_of_them(), all);
        let checks: GoalKinds = "checks".parse().unwrap();
        assert_eq!(checks.none_of_them(), "no failed check or panic");
    }

    #[test]
    fn sets_come_back_from_reports() {
        let kinds: GoalKinds = "deadlocks,sends".parse().unwrap();
        let json = serde_json::to_string(&kinds).unwrap();
        assert_eq!(json, r#"["deadlocks","fair_deadlocks","sends"]"#);
        assert_eq!(serde_json::from_str::<GoalKinds>(&json).unwrap(), kinds);
        assert_eq!(serde_json::from_str::<GoalKinds>(r#"["turns"]"#).unwrap(), GoalKinds::NONE);
    }

    #[test]
    fn kinds_are_asked_for_by_name() {
        let kinds: GoalKinds = "races, deadlocks".parse().unwrap();
        let found: Vec<GoalKind> = kinds.iter().collect();
        assert_eq!(found, [GoalKind::Race, GoalKind::Deadlock, GoalKind::FairDeadlock]);
        assert_eq!("all".parse(), Ok(GoalKinds::ALL));
        assert_eq!("races".parse(), Ok(GoalKinds::RACES));
        assert!("race".parse::<GoalKinds>().unwrap_err().contains("`race`"));
    }
}
