//! Witnesses with few thread switches.
//!
//! A schedule is the easier to read the fewer times it goes from one thread to another. So of every
//! goal that is proven a witness is looked for that has fewer. In traces that are not long the
//! solver is asked for one with fewer switches until it says that there is none; in others, what the
//! goal does not need is left out, and what is left is put in order.
//!
//! With a bound, a goal counts only if a witness keeps to it. What is refuted is refuted without the
//! bound, before anybody asks for that, and is refuted for good; that there is no witness within the
//! bound says nothing of others.

use std::time::Instant;

use rustc_hash::FxHashMap;

use super::fate::Fate;
use super::run::Job;
use super::{Decided, Decider, Proof};
use crate::goal::Goal;
use crate::trace::{EventId, Trace};
use crate::witness::{self, Witness};

/// The longest trace of which the solver is asked for witnesses with fewer switches.
pub(super) const LONGEST: usize = 2_000;

/// The longest witness that is put in order.
const LONGEST_WITNESS: usize = 100_000;

impl<'a> Job<'a> {
    /// What becomes of a goal, after what it was, once thread switches count.
    pub(super) fn with_few_switches(
        &self,
        goal: &Goal,
        fate: Fate,
        deadline: Option<Instant>,
        deciders: &mut FxHashMap<usize, Decider<'a>>,
    ) -> Fate {
        let Fate::Proven(mut witness, proof) = fate else { return fate };
        if self.options.fewest_switches {
            witness = self.in_order(witness);
            if self.trace.len() <= LONGEST && self.windows.len() == 1 {
                witness = ask_for_fewer(self.decider(0, deciders), self.trace, witness, deadline);
            }
        }
        match self.options.max_switches {
            Some(most) if witness.switches(self.trace) > most => {
                self.within(goal, most, deadline, deciders)
            }
            _ => Fate::Proven(witness, proof),
        }
    }

    /// The same witness, or one with fewer switches that leaves out what the goal does not need.
    fn in_order(&self, witness: Witness) -> Witness {
        if witness.prefix_len() > LONGEST_WITNESS {
            return witness;
        }
        let (trace, before) = (self.trace, witness.switches(self.trace));
        let prefix: Vec<EventId> = witness.prefix().collect();
        let threads = witness.goal.events().map(|event| trace.thread(event));
        let needed = witness::needed(trace, &prefix, threads);
        let tidied = [witness::tidy(trace, &needed), witness::tidy(trace, &prefix)];
        let others = tidied.into_iter().map(|rest| Witness {
            observed: 0,
            rest,
            goal: witness.goal.clone(),
        });
        let mut others = others
            .filter(|other| other.switches(trace) < before && self.checker.check(other).is_ok());
        others.next().unwrap_or(witness)
    }

    /// What becomes of a goal that has a witness with too many switches.
    fn within(
        &self,
        goal: &Goal,
        most: usize,
        deadline: Option<Instant>,
        deciders: &mut FxHashMap<usize, Decider<'a>>,
    ) -> Fate {
        let mut fate = Fate::Beyond;
        let has_all = |at: &usize| goal.events().all(|event| self.windows[*at].contains(event));
        for window in (0..self.windows.len()).filter(has_all) {
            match self.decider(window, deciders).decide_within(goal, most, deadline) {
                Decided::Proven(witness) => return Fate::Proven(witness, Proof::Solver),
                Decided::Impossible => {}
                other => fate = Fate::of(other),
            }
        }
        fate
    }
}

/// The witness with the fewest switches that a decider of the whole trace finds in time. Who has
/// proven the goal is not who has made its witness short.
pub(super) fn ask_for_fewer(
    decider: &mut Decider<'_>,
    trace: &Trace,
    mut witness: Witness,
    deadline: Option<Instant>,
) -> Witness {
    while let Some(fewer) = witness.switches(trace).checked_sub(1) {
        match decider.decide_within(&witness.goal, fewer, deadline) {
            Decided::Proven(shorter) => witness = shorter,
            Decided::Impossible | Decided::Unknown | Decided::Unconfirmed(_) => break,
        }
    }
    witness
}
