//! Predictions, replayed in the program: the schedule that it follows, and the outcome that it has.
//!
//! The schedule is the witness of the predictor, in the text of `racelog::contract::schedule`. What
//! is to be seen at its end is the goal's to say. The program runs under it: once, or twice if it
//! is a race, once with each of the racing threads first. This module runs nothing, and has no
//! words for people: the caller that runs the program gives it what the runs have left, and
//! `render` says it.
//!
//! Claim: a finding is confirmed only if all runs say so. Of a race that is that the two threads
//! stood before their accesses at the same time; of a deadlock, that each of its threads waits for
//! another of them; of a stall, that no thread can go on; of a message to nobody, that it was
//! refused. A program that does not follow the schedule has diverged, and that says nothing of the
//! finding; [`Cause`] says what it is due to.

mod cause;
mod harm;
mod named;
mod outcome;
mod schedule;
mod whole;

use racelog::contract::schedule::Aim;
use serde::{Deserialize, Serialize};

pub use self::cause::Cause;
pub use self::harm::{Ending, Harm};
pub use self::named::{ReportNames, thread_names};
pub use self::outcome::{
    Aftermath, ControlledRun, Deviation, Divergence, EarlyStep, Operation, OtherValue, Reached,
    Standing, ThreadPlace, ThreadState, ThreadValues,
};
pub use self::schedule::{NO_PLAN, Plan, PlannedRun, thread_paths};

/// What a replay looks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Two threads before accesses that race, in both orders.
    #[default]
    Race,
    /// Threads that wait for each other.
    Deadlock,
    /// Threads that wait while no other can go on.
    Stall,
    /// A message that nobody is there to receive.
    SendToNobody,
    /// A check that fails.
    Failure,
}

impl From<Aim> for Target {
    fn from(aim: Aim) -> Self {
        match aim {
            Aim::Race { .. } => Self::Race,
            Aim::Deadlock => Self::Deadlock,
            Aim::Stall => Self::Stall,
            Aim::SendToNobody => Self::SendToNobody,
            Aim::Failure => Self::Failure,
        }
    }
}

/// One run: of a race, in one of the two orders.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The racing thread that went first, or was to, as the trace calls it; none if it is no race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// How it went.
    pub outcome: ControlledRun,
    /// The program's exit code, if it had one.
    pub code: Option<i32>,
    /// What the program printed.
    #[serde(skip)]
    pub printed: Vec<u8>,
}

/// What the runs say.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Replayed {
    /// What they look for.
    #[serde(default)]
    pub target: Target,
    /// The verdict.
    pub verdict: ReplayResult,
    /// Whether the racing accesses read or wrote other values in one order than in the other.
    pub values_differ: bool,
    /// Whether the program printed something else, or ended with another exit code.
    pub output_differs: bool,
    /// The runs: of a race two, else one.
    pub orders: Vec<Order>,
    /// How the recorded run ended, if that is known.
    pub recorded: Option<Ending>,
}

/// What is known of a finding after its replay.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "result")]
pub enum ReplayResult {
    /// It has happened; a race, in both orders.
    Confirmed {
        /// Whether it does harm.
        harmful: bool,
        /// What the comparison of the orders, and with the recorded run, says.
        harm: Harm,
    },
    /// The program did not follow the schedule.
    Diverged {
        /// At this step of the schedule, from 1.
        step: u64,
        /// What should have happened.
        expected: Operation,
        /// Why it did not.
        cause: Cause,
    },
    /// The program ended before.
    Unreached {
        /// The first step that did not happen, from 1.
        step: u64,
        /// What should have happened.
        expected: Option<Operation>,
        /// Why it did not.
        cause: Cause,
    },
}

impl Replayed {
    /// Judges the runs of a plan. How the recorded one ended is for comparison.
    pub fn new(target: Target, orders: Vec<Order>, recorded: Option<Ending>) -> Self {
        let verdict = orders.iter().find_map(|order| {
            let cause = Cause::of(order)?;
            Some(match order.outcome.reached.clone() {
                Reached::Diverged(divergence) => {
                    let Divergence { step, expected, .. } = *divergence;
                    ReplayResult::Diverged { step, expected, cause }
                }
                Reached::Unreached { step, expected } => {
                    ReplayResult::Unreached { step, expected: Some(expected), cause }
                }
                // It says nothing of the schedule, so it has not followed it.
                Reached::Ran | Reached::Confirmed => {
                    ReplayResult::Unreached { step: 1, expected: None, cause }
                }
            })
        });
        let (values, output) = (Order::values_differ, Order::output_differs);
        let differs = |differ: fn(&Order, &Order) -> bool| {
            orders.windows(2).any(|pair| differ(&pair[0], &pair[1]))
        };
        let verdict = verdict.unwrap_or_else(|| {
            let harm = harm(target, &orders, recorded.as_ref());
            ReplayResult::Confirmed { harmful: harm.is_of_the_finding(), harm }
        });
        Self {
            target,
            verdict,
            values_differ: differs(values),
            output_differs: differs(output),
            orders,
            recorded,
        }
    }

    /// What a run says in which it happened, and that no schedule but a seed has decided. How other
    /// runs end is for comparison.
    pub fn of_seed(target: Target, order: Order, others: Option<Ending>) -> Self {
        let harm = match target {
            Target::Deadlock | Target::Stall | Target::Failure => Harm::Itself,
            Target::Race | Target::SendToNobody => {
                Harm::of_one(&Ending::of(&order), others.as_ref())
            }
        };
        let verdict = ReplayResult::Confirmed { harmful: harm.is_of_the_finding(), harm };
        let (orders, recorded) = (vec![order], others);
        Self { target, verdict, values_differ: false, output_differs: false, orders, recorded }
    }

    /// Whether it has happened.
    pub fn is_confirmed(&self) -> bool {
        matches!(self.verdict, ReplayResult::Confirmed { .. })
    }

    /// Why it has not, if so.
    pub fn cause(&self) -> Option<&Cause> {
        match &self.verdict {
            ReplayResult::Confirmed { .. } => None,
            ReplayResult::Diverged { cause, .. } | ReplayResult::Unreached { cause, .. } => {
                Some(cause)
            }
        }
    }

    /// Something outside of the runs explains why they did not follow, such as another program.
    pub fn explained_by(&mut self, better: Cause) {
        match &mut self.verdict {
            ReplayResult::Confirmed { .. } => {}
            ReplayResult::Diverged { cause, .. } | ReplayResult::Unreached { cause, .. } => {
                *cause = better;
            }
        }
    }
}

impl Order {
    fn values_differ(&self, other: &Self) -> bool {
        self.outcome.sorted_values() != other.outcome.sorted_values()
    }

    fn output_differs(&self, other: &Self) -> bool {
        self.printed != other.printed || self.code != other.code
    }
}

/// What runs that were confirmed say of harm.
fn harm(target: Target, orders: &[Order], recorded: Option<&Ending>) -> Harm {
    let endings: Vec<Ending> = orders.iter().map(Ending::of).collect();
    match (target, &endings[..]) {
        (Target::Deadlock | Target::Stall | Target::Failure, _) => Harm::Itself,
        (_, [one, other]) => Harm::of([one, other], recorded),
        (_, [one]) => Harm::of_one(one, recorded),
        (_, _) => Harm::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(first: &str, lines: &str) -> Order {
        let text = format!("racelog-outcome 4\n{lines}");
        let outcome = ControlledRun::parse(&text, &ReportNames::default()).unwrap();
        Order { first: Some(first.to_owned()), outcome, code: Some(0), printed: Vec::new() }
    }

    const GOOD: &str = "result confirmed\nvalue 0 wrote 1\nvalue 0.1 read 1\nthen nothing\n";

    fn judge(other: &str) -> Replayed {
        Replayed::new(Target::Race, vec![order("0", GOOD), order("0.1", other)], None)
    }

    #[test]
    fn both_orders_must_confirm() {
        let same = judge(GOOD);
        assert!(matches!(
            same.verdict,
            ReplayResult::Confirmed { harmful: false, harm: Harm::Nothing }
        ));
        assert!(same.is_confirmed() && !same.values_differ && !same.output_differs);
        let harm = judge("result confirmed\nvalue 0.1 read 0\nvalue 0 wrote 1\nthen panic x\n");
        assert!(matches!(
            harm.verdict,
            ReplayResult::Confirmed { harmful: true, harm: Harm::OneOrder }
        ));
        assert!(harm.values_differ);
        for other in ["result ran\n", "result unreached\nat 1\nexpected 0 write x\n"] {
            let cause = judge(other).cause().cloned();
            assert!(matches!(cause, Some(Cause::EndedEarly { .. })), "{other}: {cause:?}");
        }
    }

    #[test]
    fn one_run_is_enough_for_what_has_one_order() {
        let judge = |target, lines: &str| Replayed::new(target, vec![order("0", lines)], None);
        let confirmed = |harm, harmful| ReplayResult::Confirmed { harmful, harm };
        let stands = "result confirmed\nthen deadlock\nwait 0 ready lock\nholds 0.1\n";
        for target in [Target::Deadlock, Target::Stall] {
            assert_eq!(judge(target, stands).verdict, confirmed(Harm::Itself, true));
        }
        let send = judge(Target::SendToNobody, "result confirmed\nthen panic x\n");
        assert_eq!(send.verdict, confirmed(Harm::Followed, true));
        assert!(!send.values_differ && !send.output_differs);
        let send = judge(Target::SendToNobody, "result confirmed\nthen nothing\n");
        assert_eq!(send.verdict, confirmed(Harm::Nothing, false));
        // A program that hangs somewhere else has not done what was predicted.
        let other = judge(
            Target::Deadlock,
            "result unreached\nat 1\nexpected 0 acquire l\nthen deadlock\n",
        );
        assert!(matches!(other.cause(), Some(Cause::EndedEarly { .. })), "{other:?}");
    }

    #[test]
    fn what_explains_a_divergence_comes_first() {
        let cause = |lines: &str| {
            let text = "result diverged\nat 3\nexpected 0 acquire l\nfound 0 write x\n";
            judge(&format!("{text}{lines}")).cause().cloned().expect("it diverged")
        };
        let lost = "lost 0.1 @ a.rs:1:2\n";
        let foreign = "foreign 1\n";
        let early = "early 7 0.1 release l\n";
        let differs = "differs 2 0 read x\npredicted read 1\ninstead read 2\n";
        let all = format!("why other\n{lost}{foreign}{early}{differs}");
        assert!(
            matches!(cause(&all), Cause::ControlLost(spot) if spot.thread.as_deref() == Some("0.1"))
        );
        let rest = all.replace(lost, "");
        assert!(matches!(cause(&rest), Cause::ForeignThreads { threads } if threads == ["1"]));
        let rest = rest.replace(foreign, "");
        assert!(matches!(cause(&rest), Cause::WholeOperation(early) if early.step == 7));
        let rest = rest.replace(early, "");
        assert!(matches!(cause(&rest), Cause::OtherValue(_)));
        let rest = rest.replace(differs, "");
        assert!(matches!(cause(&rest), Cause::OtherOperation { found } if found.op == "write"));
    }

    #[test]
    fn every_way_to_diverge_has_its_cause() {
        let cause = |lines: &str| {
            let text = "result diverged\nat 3\nexpected 0.1 acquire l\n";
            judge(&format!("{text}{lines}")).cause().cloned().expect("it diverged")
        };
        let blocked = "why blocked\nstands 0.1 ready lock\nholds 0.2\n";
        assert!(
            matches!(cause(blocked), Cause::Blocked(at) if at.holders[0].thread.as_deref() == Some("0.2"))
        );
        let outside = "why blocked\nstands 0.1 outside begin @ a.rs:3\n";
        assert!(matches!(cause(outside), Cause::ControlLost(_)));
        let absent = "why absent\nstands 0 ready join @ a.rs:3\n";
        assert!(matches!(cause(absent), Cause::Absent { parent: Some(_), .. }));
        assert!(matches!(cause("why ended\n"), Cause::Ended { .. }));
        assert!(matches!(cause("why ended\nthen panic x\n"), Cause::EndedEarly { .. }));
        assert!(matches!(cause("why other\nfound 0.1 end -\n"), Cause::Ended { .. }));
        let panicked = "why other\nfound 0.1 end -\nthen panic x\n";
        assert!(matches!(cause(panicked), Cause::EndedEarly { .. }));
        assert!(matches!(cause("why apart\n"), Cause::Apart));
        assert!(matches!(cause("why goes_on\n"), Cause::GoesOn { thread } if thread == "0.1"));
    }

    #[test]
    fn what_is_known_besides_explains_only_what_did_not_happen() {
        let changed = || Cause::ProgramChanged {
            recorded: "p".to_owned(),
            program: None,
            problem: String::new(),
        };
        let mut confirmed = judge(GOOD);
        confirmed.explained_by(changed());
        assert_eq!(confirmed.cause(), None);
        let mut diverged = judge("result diverged\nat 1\nwhy ended\nexpected 0 write x\n");
        diverged.explained_by(changed());
        assert_eq!(diverged.cause(), Some(&changed()));
    }

    #[test]
    fn only_what_ran_was_tried() {
        assert!(!Cause::Untried { problem: String::new() }.was_tried());
        assert!(!Cause::NotRun { problem: String::new() }.was_tried());
        assert!(Cause::TimeUp { seconds: 1.0 }.was_tried());
        assert!(Cause::Apart.was_tried());
    }
}
