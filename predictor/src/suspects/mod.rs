//! What may be a bug and is not proven to be one: what runs of the program are directed to.
//!
//! Prediction is sound and has a price: where the path of a thread may depend on a value, it says
//! nothing. What is left over is tried instead. A [`Suspect`] says where in the source threads
//! would have to stand, and why it is worth a try. The most promising come first.
//!
//! Claim: none. A suspect is a place to look, and nothing is reported before it has happened.

mod between;
mod circles;
mod orders;
mod races;
mod waits;

use std::collections::BTreeSet;
use std::fmt;

use racelog::contract::place::{PlaceList, PlacePair, SourcePlace};
use racelog::contract::seed::Manoeuvre;
use racelog::trace::{LockId, Object};

use crate::trace::{EventId, Trace};

/// How many suspects of a trace are kept.
pub const MOST: usize = 64;

/// Something to try.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suspect {
    /// What to direct a run to.
    pub target: Target,
    /// The events of the trace that would be part of it.
    pub events: Vec<EventId>,
    /// Why it may be one.
    pub why: Why,
}

/// What a run is directed to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Target {
    /// Two threads that stand before accesses at these places.
    Race(PlacePair),
    /// Threads that are held back at these places.
    Held(Manoeuvre, PlaceList),
}

impl Target {
    /// The places.
    pub fn places(&self) -> &[SourcePlace] {
        match self {
            Self::Race(PlacePair(places)) => places,
            Self::Held(_, PlaceList(places)) => places,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Race(places) => places.fmt(f),
            Self::Held(manoeuvre, places) => write!(f, "{} {places}", manoeuvre.name()),
        }
    }
}

/// Why something is a suspect. What says more stands first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Why {
    /// In the recorded run these locks order the accesses, and nothing says that they must be taken
    /// in that order.
    OrderOfLocks(Vec<LockId>),
    /// The orders in which locks are taken make a circle.
    OrdersOfLocksDiffer,
    /// One of them frees what the other accesses.
    FreedMeanwhile,
    /// A notification could come before the wait that it is meant for.
    EarlyNotification,
    /// What one thread has found in an atomic, another changes before the first acts by it.
    ChangedAtomic,
    /// The same of what a lock guards, for it is given back in between.
    ChangedUnderLock,
    /// In the recorded run atomic accesses or notifications order them, and what a thread found
    /// there may not have mattered.
    OrderOfValues,
    /// Nothing says that the one must come before the other.
    OtherOrder,
}

impl Why {
    /// In words. `name` says what objects are called.
    pub fn words(&self, mut name: impl FnMut(Object) -> String) -> String {
        match self {
            Self::OrderOfLocks(locks) => {
                let name = |lock: &LockId| format!("`{}`", name(Object::Lock(*lock)));
                let locks: Vec<String> = locks.iter().map(name).collect();
                format!("only the order in which {} was taken is between them", locks.join(", "))
            }
            Self::OrdersOfLocksDiffer => {
                "the orders in which these are taken make a circle".to_owned()
            }
            Self::FreedMeanwhile => "the memory could be freed before it is accessed".to_owned(),
            Self::EarlyNotification => {
                "the notification could come before the thread waits".to_owned()
            }
            Self::ChangedAtomic => {
                "another thread can change what was found, before it is written".to_owned()
            }
            Self::ChangedUnderLock => {
                "another thread can take the lock between these two times".to_owned()
            }
            Self::OrderOfValues => {
                "only what one thread has found of the other is between them".to_owned()
            }
            Self::OtherOrder => "nothing says which of them comes first".to_owned(),
        }
    }
}

/// The suspects of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Suspects {
    /// Those to try, the most promising first.
    pub all: Vec<Suspect>,
    /// How many more there are.
    pub left_out: usize,
}

impl Suspects {
    /// The suspects of a trace, but for those that are known: what was reported already is not tried
    /// again.
    pub fn of(trace: &Trace, is_known: impl Fn(&Suspect) -> bool) -> Self {
        let mut all = races::find(trace);
        all.extend(circles::find(trace));
        all.extend(waits::find(trace));
        all.extend(between::find(trace));
        all.extend(orders::find(trace));
        let mut targets = BTreeSet::new();
        all.retain(|suspect| !is_known(suspect) && targets.insert(suspect.target.clone()));
        all.sort_by_cached_key(|suspect| rank(trace, suspect));
        let left_out = all.len().saturating_sub(MOST);
        all.truncate(MOST);
        Self { all, left_out }
    }
}

/// What comes first is tried first: by the kind of reason; then those whose events are close to each
/// other, for little is between them.
fn rank(trace: &Trace, suspect: &Suspect) -> (u8, u64, String) {
    let class = match suspect.why {
        Why::OrderOfLocks(_) | Why::OrdersOfLocksDiffer => 0,
        Why::FreedMeanwhile | Why::EarlyNotification | Why::OrderOfValues => 1,
        Why::ChangedAtomic => 2,
        Why::ChangedUnderLock => 3,
        Why::OtherOrder => 4,
    };
    let numbers = || suspect.events.iter().map(|event| event.number());
    let spread = numbers().max().unwrap_or(0) - numbers().min().unwrap_or(0);
    debug_assert!(suspect.events.iter().all(|event| trace.contains(*event)));
    (class, spread, suspect.target.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place is written, and a lock orders who reads it; the sum under the lock is a decision
    /// where code is not instrumented, so that nothing is predicted.
    const BY_CHANCE: &str = "t0 fork t1\nt0 fork t2\nt1 write x 1 @ a.rs:1:1\n\
        t1 acquire l @ a.rs:2:1\nt1 release l @ a.rs:2:1\nt2 acquire l @ b.rs:1:1\n\
        t2 release l @ b.rs:1:1\nt2 read x 1 @ b.rs:2:1\n";

    fn words(text: &str) -> Vec<String> {
        let mut words = all_words(text);
        words.retain(|words| !words.contains(": nothing says which"));
        words
    }

    fn all_words(text: &str) -> Vec<String> {
        let trace: Trace = text.parse().unwrap();
        let suspects = Suspects::of(&trace, |_| false);
        let mut printer = trace.printer();
        let words = suspects.all.iter().map(|suspect| {
            let why = suspect.why.words(|object| printer.name(object).to_owned());
            format!("{}: {why}", suspect.target)
        });
        words.collect()
    }

    #[test]
    fn what_a_lock_orders_by_chance_is_one() {
        let why = "only the order in which `l` was taken is between them";
        assert_eq!(words(BY_CHANCE), [format!("a.rs:1:1,b.rs:2:1: {why}")]);
        let joined = BY_CHANCE.replace("t2 acquire l", "t2 join t1\nt2 acquire l");
        assert_eq!(words(&joined), [""; 0], "who joins the other comes after it always");
        let held = "t0 fork t1\nt0 fork t2\nt1 acquire l @ a.rs:2:1\nt1 write x 1 @ a.rs:1:1\n\
            t1 release l @ a.rs:2:1\nt2 acquire l @ b.rs:1:1\nt2 read x 1 @ b.rs:2:1\n\
            t2 release l @ b.rs:1:1\n";
        assert_eq!(words(held), [""; 0], "a lock keeps the two apart");
    }

    #[test]
    fn what_is_known_or_has_no_place_is_none() {
        let trace: Trace = BY_CHANCE.parse().unwrap();
        assert_eq!(Suspects::of(&trace, |_| true), Suspects::default());
        assert_eq!(words(&BY_CHANCE.replace("x 1 @ a.rs:1:1", "x 1")), [""; 0]);
    }

    #[test]
    fn every_kind_has_its_suspects() {
        let circle = "t0 fork t1\nt0 fork t2\nt1 acquire a @ a.rs:1:1\nt1 acquire b @ a.rs:2:1\n\
            t1 release b\nt1 release a\nt2 acquire b @ b.rs:1:1\nt2 acquire a @ b.rs:2:1\n\
            t2 release a\nt2 release b\n";
        let why = "the orders in which these are taken make a circle";
        assert_eq!(words(circle)[0], format!("circle a.rs:2:1,b.rs:2:1: {why}"));
        let wait = "t0 fork t1\nt1 acquire l @ a.rs:1:1\nt1 wait c l @ a.rs:2:1\n\
            t0 notify_one c t1 @ b.rs:1:1\nt1 wake c l\nt1 release l\n";
        let why = "the notification could come before the thread waits";
        assert_eq!(words(wait), [format!("wait a.rs:1:1,a.rs:2:1,b.rs:1:1: {why}")]);
        let atomic = "t0 fork t1\nt0 fork t2\nt1 load x 0 @ a.rs:1:1\nt1 store x 1 @ a.rs:2:1\n\
            t2 store x 7 @ b.rs:1:1\n";
        let why = "another thread can change what was found, before it is written";
        assert_eq!(words(atomic), [format!("between a.rs:1:1,b.rs:1:1,a.rs:2:1: {why}")]);
        let update = atomic.replace("t1 load x 0 @ a.rs:1:1\nt1 store x 1", "t1 rmw x 0 1");
        assert_eq!(words(&update), [""; 0], "one operation has nothing in it");
        let locked = "t0 fork t1\nt0 fork t2\nt1 acquire l @ a.rs:1:1\nt1 release l\n\
            t1 acquire l @ a.rs:2:1\nt1 release l\nt2 acquire l @ b.rs:1:1\nt2 release l\n";
        let why = "another thread can take the lock between these two times";
        assert_eq!(words(locked), [format!("between a.rs:1:1,b.rs:1:1,a.rs:2:1: {why}")]);
    }

    #[test]
    fn what_comes_first_may_come_late() {
        let why = "nothing says which of them comes first";
        let late = [format!("late a.rs:2:1: {why}"), format!("late b.rs:1:1: {why}")];
        assert_eq!(all_words(BY_CHANCE)[1..], late);
        let joined = BY_CHANCE.replace("t2 acquire l", "t2 join t1\nt2 acquire l");
        assert_eq!(all_words(&joined), [""; 0], "who joins the other comes after it always");
    }

    #[test]
    fn what_is_freed_may_be_accessed_late() {
        let freed = "#racelog freed x\nt0 fork t1\nt0 fork t2\nt1 load y 0 @ a.rs:1:1\n\
            t1 acquire l @ a.rs:2:1\nt1 read x 0 @ a.rs:3:1\nt1 release l @ a.rs:4:1\n\
            t2 acquire l\nt2 release l\nt2 write x _\n";
        let why = "the memory could be freed before it is accessed";
        assert_eq!(words(freed), [format!("late a.rs:3:1,a.rs:2:1,a.rs:1:1: {why}")]);
    }

    #[test]
    fn there_are_no_more_than_can_be_tried() {
        let mut text = "t0 fork t1\nt0 fork t2\n".to_owned();
        for line in 1..=MOST + 3 {
            text += &format!("t1 write x{line} 1 @ a.rs:{line}:1\n");
        }
        text += "t1 acquire l\nt1 release l\nt2 acquire l\nt2 release l\n";
        for line in 1..=MOST + 3 {
            text += &format!("t2 read x{line} 1 @ b.rs:{line}:1\n");
        }
        let suspects = Suspects::of(&text.parse().unwrap(), |_| false);
        assert_eq!((suspects.all.len(), suspects.left_out), (MOST, 3));
    }
}
