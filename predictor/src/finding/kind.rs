//! The kinds of findings: one table, from which all formats take what they say of a kind.
//!
//! A new kind is a variant here with its row in [`Kind::about`] and [`Kind::KNOWN`], and its page
//! in `explain/`. A report of a later racelog may have kinds that this one does not know: these are
//! [`Kind::Other`], with what the report itself says of them.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which kind of thing was found. `cargo racelog explain` says more.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// A data race, proven by a schedule.
    DataRace,
    /// A data race of the observed run, by happens-before, that no schedule shows: nothing orders
    /// the accesses, or the orderings of atomic accesses are too weak for their order to count.
    UnorderedRace,
    /// A data race that only a detector reports that may be wrong.
    SuspectedRace,
    /// Threads wait for each other in a circle.
    Deadlock,
    /// Every thread waits, some of them for what nobody is left to do.
    Stall,
    /// A stall of a thread whose notification came too early or went elsewhere.
    LostWakeup,
    /// The recorded run itself did not come to its end.
    Hang,
    /// A deadlock that only a detector reports that may be wrong.
    SuspectedDeadlock,
    /// A check of the program fails.
    FailedCheck,
    /// A check of the language fails: an overflow, an index out of bounds, a division by zero.
    Panic,
    /// A signal kills the program.
    Crash,
    /// Another thread's access comes between two that the program means to be one step.
    AtomicityViolation,
    /// The same of two that the trace shows to be meant as one step.
    InferredAtomicity,
    /// A message is sent when all receivers are gone.
    SendToNobody,
    /// A kind that a later version of racelog knows.
    Other(Box<OtherKind>),
}

/// What a report says of a kind that this version does not know.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OtherKind {
    /// Its code.
    pub code: String,
    /// Its title.
    pub title: String,
    /// The word for one of its findings.
    pub noun: String,
}

/// What shows that a finding of a kind is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Basis {
    /// A schedule that the checker has replayed.
    Schedule,
    /// The recorded run itself, by the memory model: no replay is needed.
    ObservedRun,
    /// It happened in the recorded run, whatever was not seen of it.
    Happened,
    /// A detector that gives no proof, and may be wrong.
    Suspicion,
}

/// A row of the table.
struct About<'a> {
    code: &'a str,
    /// What it is, in two or three words.
    title: &'a str,
    /// The word for one finding; with an `s` for several.
    noun: &'a str,
    /// The name of its rule in SARIF.
    rule: &'a str,
    basis: Basis,
    /// Whether its events can change places: then it is the same finding whichever comes first.
    symmetric: bool,
    /// The page of `cargo racelog explain`.
    page: Option<&'static str>,
}

impl Kind {
    /// All that this version knows, by their codes.
    pub const KNOWN: [Self; 14] = [
        Self::DataRace,
        Self::UnorderedRace,
        Self::SuspectedRace,
        Self::Deadlock,
        Self::Stall,
        Self::LostWakeup,
        Self::Hang,
        Self::SuspectedDeadlock,
        Self::FailedCheck,
        Self::Panic,
        Self::Crash,
        Self::AtomicityViolation,
        Self::InferredAtomicity,
        Self::SendToNobody,
    ];

    /// The table.
    fn about(&self) -> About<'_> {
        match self {
            Self::DataRace => About {
                code: "RL001",
                title: "data race",
                noun: "race",
                rule: "DataRace",
                basis: Basis::Schedule,
                symmetric: true,
                page: Some(include_str!("explain/RL001.md")),
            },
            Self::UnorderedRace => About {
                code: "RL002",
                title: "data race by happens-before",
                noun: "race",
                rule: "Unordered",
                basis: Basis::ObservedRun,
                symmetric: true,
                page: Some(include_str!("explain/RL002.md")),
            },
            Self::SuspectedRace => About {
                code: "RL003",
                title: "suspected data race",
                noun: "race",
                rule: "SuspectedDataRace",
                basis: Basis::Suspicion,
                symmetric: true,
                page: Some(include_str!("explain/RL003.md")),
            },
            Self::Deadlock => About {
                code: "RL010",
                title: "deadlock",
                noun: "deadlock",
                rule: "Deadlock",
                basis: Basis::Schedule,
                symmetric: true,
                page: Some(include_str!("explain/RL010.md")),
            },
            Self::Stall => About {
                code: "RL011",
                title: "threads that wait for ever",
                noun: "stall",
                rule: "Stall",
                basis: Basis::Schedule,
                symmetric: true,
                page: Some(include_str!("explain/RL011.md")),
            },
            Self::LostWakeup => About {
                code: "RL012",
                title: "lost wake-up",
                noun: "lost wake-up",
                rule: "LostWakeup",
                basis: Basis::Schedule,
                symmetric: true,
                page: Some(include_str!("explain/RL012.md")),
            },
            Self::Hang => About {
                code: "RL013",
                title: "hang in the recorded run",
                noun: "hang",
                rule: "Hang",
                basis: Basis::Happened,
                symmetric: true,
                page: Some(include_str!("explain/RL013.md")),
            },
            Self::SuspectedDeadlock => About {
                code: "RL014",
                title: "possible deadlock, not proven",
                // It is one finding with the deadlock, where a part of the work proves that.
                noun: "deadlock",
                rule: "SuspectedDeadlock",
                basis: Basis::Suspicion,
                symmetric: true,
                page: Some(include_str!("explain/RL014.md")),
            },
            Self::FailedCheck => About {
                code: "RL020",
                title: "failed check",
                noun: "failed check",
                rule: "FailedCheck",
                basis: Basis::Schedule,
                symmetric: true,
                page: Some(include_str!("explain/RL020.md")),
            },
            Self::Panic => About {
                code: "RL021",
                title: "panic",
                noun: "panic",
                rule: "Panic",
                basis: Basis::Schedule,
                symmetric: true,
                page: Some(include_str!("explain/RL021.md")),
            },
            Self::Crash => About {
                code: "RL022",
                title: "crash",
                noun: "killed run",
                rule: "Crash",
                basis: Basis::Schedule,
                symmetric: true,
                page: Some(include_str!("explain/RL022.md")),
            },
            Self::AtomicityViolation => About {
                code: "RL030",
                title: "atomicity violation",
                noun: "atomicity violation",
                rule: "AtomicityViolation",
                basis: Basis::Schedule,
                symmetric: false,
                page: Some(include_str!("explain/RL030.md")),
            },
            Self::InferredAtomicity => About {
                code: "RL031",
                title: "inferred atomicity violation",
                noun: "atomicity violation",
                rule: "InferredAtomicityViolation",
                basis: Basis::Schedule,
                symmetric: false,
                page: Some(include_str!("explain/RL031.md")),
            },
            Self::SendToNobody => About {
                code: "RL040",
                title: "send to nobody",
                noun: "send to nobody",
                rule: "SendToNobody",
                basis: Basis::Schedule,
                symmetric: true,
                page: Some(include_str!("explain/RL040.md")),
            },
            Self::Other(other) => About {
                code: &other.code,
                title: &other.title,
                noun: &other.noun,
                rule: &other.code,
                // Nothing else is checked.
                basis: Basis::Schedule,
                symmetric: false,
                page: None,
            },
        }
    }

    /// The kind of this code, in upper case, if this version knows it.
    pub fn of_code(code: &str) -> Option<Self> {
        Self::KNOWN.into_iter().find(|kind| kind.code() == code)
    }

    /// The kind that a report names, which may be one that this version does not know.
    pub fn of_report(code: &str, title: Option<&str>, noun: Option<&str>) -> Self {
        Self::of_code(code).unwrap_or_else(|| {
            Self::Other(Box::new(OtherKind {
                code: code.to_owned(),
                title: title.unwrap_or("finding of a later version of racelog").to_owned(),
                noun: noun.unwrap_or("other finding").to_owned(),
            }))
        })
    }

    /// Its code, such as `RL001`.
    pub fn code(&self) -> &str {
        self.about().code
    }

    /// What it is, in two or three words.
    pub fn title(&self) -> &str {
        self.about().title
    }

    /// The word for one finding of this kind; with an `s` for several.
    pub fn noun(&self) -> &str {
        self.about().noun
    }

    /// The words for findings of these kinds, and how many each has.
    pub fn nouns<'a>(kinds: impl IntoIterator<Item = &'a Self>) -> Vec<(&'a str, u64)> {
        let mut nouns: Vec<(&Self, u64)> = Vec::new();
        for kind in kinds {
            match nouns.iter_mut().find(|(known, _)| known.noun() == kind.noun()) {
                Some((_, number)) => *number += 1,
                None => nouns.push((kind, 1)),
            }
        }
        nouns.sort();
        nouns.into_iter().map(|(kind, number)| (kind.noun(), number)).collect()
    }

    /// The name of its rule in SARIF.
    pub fn rule(&self) -> &str {
        self.about().rule
    }

    /// What shows that a finding is one.
    pub fn basis(&self) -> Basis {
        self.about().basis
    }

    /// Whether the events of a finding can change places.
    pub fn is_symmetric(&self) -> bool {
        self.about().symmetric
    }

    /// The page of `cargo racelog explain`; nothing for kinds that this version does not know.
    pub fn page(&self) -> Option<&'static str> {
        self.about().page
    }
}

/// A kind as reports have it: with what readers need that do not know it.
#[derive(Serialize)]
struct Written<'a> {
    code: &'a str,
    title: &'a str,
    noun: &'a str,
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = Written { code: self.code(), title: self.title(), noun: self.noun() };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Read {
            code: String,
            title: Option<String>,
            noun: Option<String>,
        }
        let Read { code, title, noun } = Read::deserialize(deserializer)?;
        Ok(Self::of_report(&code, title.as_deref(), noun.as_deref()))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// The examples in the pages run as tests.
#[cfg(doctest)]
mod examples {
    #[doc = include_str!("explain/RL001.md")]
    struct DataRace;
    #[doc = include_str!("explain/RL002.md")]
    struct UnorderedRace;
    #[doc = include_str!("explain/RL003.md")]
    struct SuspectedRace;
    #[doc = include_str!("explain/RL010.md")]
    struct Deadlock;
    #[doc = include_str!("explain/RL011.md")]
    struct Stall;
    #[doc = include_str!("explain/RL012.md")]
    struct LostWakeup;
    #[doc = include_str!("explain/RL013.md")]
    struct Hang;
    #[doc = include_str!("explain/RL014.md")]
    struct SuspectedDeadlock;
    #[doc = include_str!("explain/RL020.md")]
    struct FailedCheck;
    #[doc = include_str!("explain/RL021.md")]
    struct Panic;
    #[doc = include_str!("explain/RL022.md")]
    struct Crash;
    #[doc = include_str!("explain/RL030.md")]
    struct AtomicityViolation;
    #[doc = include_str!("explain/RL031.md")]
    struct InferredAtomicity;
    #[doc = include_str!("explain/RL040.md")]
    struct SendToNobody;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_found_again() {
        let mut codes: Vec<String> =
            Kind::KNOWN.iter().map(|kind| kind.code().to_owned()).collect();
        assert!(Kind::KNOWN.iter().all(|kind| Kind::of_code(kind.code()).as_ref() == Some(kind)));
        codes.dedup();
        assert!(codes.is_sorted() && codes.len() == Kind::KNOWN.len());
    }

    #[test]
    fn a_kind_of_a_later_version_says_what_its_report_says() {
        let later = Kind::of_report("RL999", Some("wrong turn"), Some("turn"));
        assert_eq!((later.code(), later.title(), later.noun()), ("RL999", "wrong turn", "turn"));
        assert_eq!((later.rule(), later.page()), ("RL999", None));
        let silent = Kind::of_report("RL998", None, None);
        assert_eq!(silent.title(), "finding of a later version of racelog");
        assert_eq!(Kind::of_report("RL001", Some("x"), None), Kind::DataRace);
    }
}
