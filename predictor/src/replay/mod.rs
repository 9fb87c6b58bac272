//! Predicted races, replayed in the program: what is handed to it, and what comes back.
//!
//! The schedule is the witness of the predictor, in the text that `racelog::sched` reads: the program runs
//! under it twice, once with each of the racing threads first. This module runs nothing; whoever does
//! gives it what the two runs have left.
//!
//! Claim: a race is confirmed only if both runs say that the two threads stood before their accesses
//! at the same time. A program that does not follow the schedule has diverged, and that says nothing of
//! the race: it did something else, so it depends on more than the schedule, such as its input or the
//! time; or a thread did not come, or could not go on; or control was lost.

mod outcome;
mod schedule;
mod whole;

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

pub use self::outcome::{Aftermath, InvalidOutcome, Outcome, Reached, Why};
pub use self::schedule::Plan;

/// One run of the two.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Order {
    /// The thread that went first, or was to.
    pub first: String,
    /// How it went.
    pub outcome: Outcome,
    /// The program's exit code, if it had one.
    pub code: Option<i32>,
    /// What the program printed.
    #[serde(skip)]
    pub printed: Vec<u8>,
}

/// What two runs say.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Replayed {
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the racing accesses read or wrote other values in one order than in the other.
    pub values_differ: bool,
    /// Whether the program printed something else, or ended with another exit code.
    pub output_differs: bool,
    /// The two runs.
    pub orders: [Order; 2],
}

/// What is known of a race after its replay.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "result")]
pub enum Verdict {
    /// It has happened, in both orders.
    Confirmed {
        /// Whether a panic, a failed check, a deadlock or the like followed in one of them.
        harmful: bool,
    },
    /// The program did not follow the schedule.
    Diverged {
        /// At this step of the schedule, from 1.
        step: u64,
        /// In which way.
        why: Why,
        /// What should have happened.
        expected: String,
        /// What did.
        found: String,
    },
    /// The program ended before the race.
    Unreached {
        /// The first step that did not happen, from 1.
        step: u64,
        /// What should have happened.
        expected: String,
    },
}

impl Replayed {
    /// Judges two runs.
    pub fn new(orders: [Order; 2]) -> Self {
        let verdict = orders.iter().find_map(|order| match order.outcome.reached.clone() {
            Reached::Diverged { step, why, expected, found } => {
                // Then all that came after is somebody else's doing.
                let why = if order.outcome.lost.is_empty() { why } else { Why::ControlLost };
                Some(Verdict::Diverged { step, why, expected, found })
            }
            Reached::Unreached { step, expected } => Some(Verdict::Unreached { step, expected }),
            // It says nothing of the schedule, so it has not followed it.
            Reached::Ran => {
                let expected = "the schedule".to_owned();
                Some(Verdict::Unreached { step: 1, expected })
            }
            Reached::Confirmed => None,
        });
        let harmful = orders.iter().any(|order| order.outcome.then.is_harm());
        let [one, other] = &orders;
        Self {
            verdict: verdict.unwrap_or(Verdict::Confirmed { harmful }),
            values_differ: one.outcome.sorted_values() != other.outcome.sorted_values(),
            output_differs: one.printed != other.printed || one.code != other.code,
            orders,
        }
    }

    /// Whether the race has happened.
    pub fn is_confirmed(&self) -> bool {
        matches!(self.verdict, Verdict::Confirmed { .. })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Confirmed { harmful: true } => f.write_str("confirmed, and does harm"),
            Self::Confirmed { harmful: false } => f.write_str("confirmed"),
            Self::Diverged { step, expected, found, .. } => {
                write!(f, "diverged at step {step}: expected `{expected}`, found `{found}`")
            }
            Self::Unreached { step, expected } => {
                write!(f, "unreached: the run was over before step {step}, `{expected}`")
            }
        }
    }
}

/// What a divergence may be due to.
const fn explain(why: Why) -> &'static str {
    match why {
        Why::Other => {
            "the program did another operation than predicted: it depends on something besides its \
             schedule, such as input or time that racelog does not see; or it is not the one that was \
             recorded; or the witness interrupts an operation that the program does at once, and then \
             the race may be none"
        }
        Why::Absent => "nobody has started the thread of this step",
        Why::Blocked => {
            "the thread of this step is blocked, and so is everybody who could let it go on"
        }
        Why::ControlLost => {
            "control was lost before: a thread waited in a way that racelog does not see, so the \
             schedule was not followed"
        }
    }
}

/// What people read.
pub fn write_text(out: &mut impl Write, replayed: &Replayed) -> io::Result<()> {
    writeln!(out, "{}", replayed.verdict)?;
    if let Verdict::Diverged { why, .. } = replayed.verdict {
        writeln!(out, "  {}", explain(why))?;
    }
    for order in &replayed.orders {
        if order.outcome.reached == Reached::Confirmed {
            writeln!(out, "  thread {} first: {}", order.first, order.outcome)?;
        } else if order.outcome.then != Aftermath::Nothing {
            writeln!(out, "  thread {} to be first: then {}", order.first, order.outcome.then)?;
        }
        for line in order.outcome.details.iter().chain(&order.outcome.lost) {
            writeln!(out, "    {line}")?;
        }
    }
    if replayed.is_confirmed() {
        let differs = |differs: bool| if differs { "differ" } else { "do not differ" };
        let (values, output) = (differs(replayed.values_differ), differs(replayed.output_differs));
        writeln!(
            out,
            "  by the order, values {values}, and what is printed and exit codes {output}"
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(first: &str, lines: &str) -> Order {
        let outcome = Outcome::parse(&format!("racelog-outcome 2\n{lines}")).unwrap();
        Order { first: first.to_owned(), outcome, code: Some(0), printed: Vec::new() }
    }

    const GOOD: &str = "result confirmed\nvalue 0 wrote 1\nvalue 0.1 read 1\nthen nothing\n";

    #[test]
    fn both_orders_must_confirm() {
        let judge = |other: &str| Replayed::new([order("0", GOOD), order("0.1", other)]);
        let same = judge(GOOD);
        assert_eq!(same.verdict, Verdict::Confirmed { harmful: false });
        assert!(same.is_confirmed() && !same.values_differ && !same.output_differs);
        let harm = judge("result confirmed\nvalue 0.1 read 0\nvalue 0 wrote 1\nthen panic x\n");
        assert_eq!(harm.verdict, Verdict::Confirmed { harmful: true });
        assert!(harm.values_differ);
        let diverged = "result diverged\nat 1\nwhy absent\n";
        let why = |lines: &str| match judge(lines).verdict {
            Verdict::Diverged { why, .. } => why,
            verdict => panic!("{verdict}"),
        };
        assert_eq!(why(diverged), Why::Absent);
        assert_eq!(why(&format!("{diverged}lost thread 0\n")), Why::ControlLost);
        for other in ["result ran\n", "result unreached\nat 1\n", "result diverged\nat 1\n"] {
            assert!(!judge(other).is_confirmed(), "{other}");
        }
    }
}
