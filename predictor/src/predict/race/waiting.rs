//! The patient yes: the observed run with one thread held back, in which the others wait for what
//! they need.
//!
//! As in `hold_back`, the thread of the earlier access stops right before it; but a thread that
//! needs what is missing waits for another one to do the same (`patient_run`), from the earlier
//! access on: that can be much longer than the two accesses are apart, and may lead nowhere. The
//! checker has the last word.

use std::time::Instant;

use crate::goal::{Goal, Pair};
use crate::predict::patient_run::{Limits, PatientRun};
use crate::trace::EventId;
use crate::witness::{self, Checker, Witness};

/// How long to wait.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// How many steps to take.
    pub steps: usize,
    /// Until when.
    pub deadline: Option<Instant>,
}

impl Waiting {
    /// A witness that the checker accepts, if waiting gives one; and how many steps that took.
    pub fn prove(&self, pair: Pair, checker: &Checker<'_>) -> (Option<Witness>, usize) {
        let Some(mut run) = PatientRun::new(checker, pair.first()) else { return (None, 0) };
        let limits = Limits { steps: self.steps, deadline: self.deadline };
        if !run.reach(pair.second(), &limits) {
            return (None, run.steps());
        }
        let trace = checker.machine().trace();
        let witness = |rest: Vec<EventId>| Witness {
            observed: pair.first().index(),
            rest,
            goal: Goal::Race(pair),
        };
        let is_accepted = |witness: &Witness| checker.check(witness).is_ok();
        let threads = pair.events().iter().map(|access| trace.thread(*access));
        // Witnesses are kept to the end.
        let mut short = witness::needed(trace, run.taken(), threads);
        short.shrink_to_fit();
        let found = Some(witness(short))
            .filter(is_accepted)
            .or_else(|| Some(witness(run.taken().to_vec())).filter(is_accepted));
        (found, run.steps())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;

    /// Two threads count up, one down; each decides by what it reads.
    const COUNTER: &str = "\
a fork b
a fork c
a fork d
b read n 0
b branch
b write n 1
c read n 1
c branch
c write n 0
d read n 0
d branch
d write n 1
";

    fn prove(text: &str, events: [u64; 2], steps: usize) -> Option<Vec<u64>> {
        let trace: Trace = text.parse().expect("the trace is valid");
        let checker = Checker::new(&trace);
        let [a, b] = events.map(|number| EventId::from_index(number as usize - 1));
        let waiting = Waiting { steps, deadline: None };
        let (witness, _) = waiting.prove(Pair::new(a, b), &checker);
        Some(witness?.schedule().map(EventId::number).collect())
    }

    #[test]
    fn another_thread_does_what_the_one_that_is_held_back_does_not() {
        // `d` counts up in the place of `b`, so `c` still finds 1.
        let witness = prove(COUNTER, [6, 9], usize::MAX);
        assert_eq!(witness, Some(vec![1, 2, 3, 4, 5, 10, 11, 12, 7, 8, 6, 9]));
    }

    #[test]
    fn what_nobody_does_is_waited_for_in_vain() {
        let without_d =
            COUNTER.lines().filter(|line| !line.starts_with('d')).map(|line| format!("{line}\n"));
        assert_eq!(prove(&without_d.collect::<String>(), [6, 9], usize::MAX), None);
    }

    #[test]
    fn steps_are_limited() {
        assert_eq!(prove(COUNTER, [6, 9], 3), None);
    }

    #[test]
    fn what_does_not_need_the_one_that_is_held_back_is_left_out() {
        let text = COUNTER.replace("a fork d\n", "a fork d\na write x 1\n") + "d read x 1\n";
        let witness = prove(&text, [7, 10], usize::MAX);
        assert_eq!(witness.map(|events| events.contains(&14)), Some(false));
    }
}
