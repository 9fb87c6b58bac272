//! What becomes of a candidate, and what was done about those of its signature.

use std::time::Duration;

use super::{Counts, Decided, Prediction, Proof, Proven};
use crate::goal::Goal;
use crate::witness::Witness;

/// What was done about a signature.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tried {
    /// How many of its goals were looked at.
    pub(super) goals: usize,
    /// Whether one of them is reached.
    pub(super) proven: bool,
    /// How many steps it took to hold threads back.
    pub(super) steps: usize,
    /// How many steps threads have waited for what they need.
    pub(super) waited: usize,
    /// How long goals were thought about that were not decided.
    pub(super) in_vain: Duration,
}

/// What becomes of a candidate that no order and no lock rules out.
pub(super) enum Fate {
    /// Some execution reaches it.
    Proven(Witness, Proof),
    /// None does: the order in which locks were taken keeps its events apart.
    Crossed,
    /// None does: a flag that is taken by compare-exchange keeps its events apart.
    Claimed,
    /// None does: what it forces is a contradiction.
    Contradicted,
    /// None does, says the solver.
    Refuted,
    /// None does within its window, which is not the whole trace.
    Cut,
    /// Some may, and none with so few thread switches as are allowed.
    Beyond,
    /// The time was up.
    TimedOut,
    /// The checker did not accept what the solver found.
    Unconfirmed,
    /// No window has all its events.
    Apart,
    /// It was not tried: there are too many, or the trace is too large.
    TooMuch,
}

impl Fate {
    /// What becomes of a candidate that the solver was asked about, in the whole trace.
    pub(super) fn of(decided: Decided) -> Self {
        match decided {
            Decided::Proven(witness) => Self::Proven(witness, Proof::Solver),
            Decided::Impossible => Self::Refuted,
            Decided::Unknown => Self::TimedOut,
            Decided::Unconfirmed(_) => Self::Unconfirmed,
        }
    }

    /// Notes and counts what has become of a goal.
    pub(super) fn note(
        self,
        goal: Goal,
        time: Duration,
        tried: &mut Tried,
        found: &mut Prediction,
    ) {
        *self.count(&mut found.counts) += 1;
        match self {
            Self::Proven(witness, proof) => {
                tried.proven = true;
                found.found.push(Proven { witness, proof, time });
            }
            Self::Crossed | Self::Claimed | Self::Contradicted | Self::Refuted => {}
            Self::Cut
            | Self::Beyond
            | Self::TimedOut
            | Self::Unconfirmed
            | Self::Apart
            | Self::TooMuch => {
                found.unknown.push(goal);
            }
        }
    }

    /// Where it is counted.
    pub(super) fn count<'c>(&self, counts: &'c mut Counts) -> &'c mut u64 {
        match self {
            Self::Proven(_, Proof::HeldBack) => &mut counts.proven.hold_back,
            Self::Proven(_, Proof::Closure) => &mut counts.proven.closure,
            Self::Proven(_, Proof::Waiting) => &mut counts.proven.waiting,
            Self::Proven(_, Proof::Solver) => &mut counts.proven.solver,
            Self::Crossed => &mut counts.refuted.lock_histories,
            Self::Claimed => &mut counts.refuted.flags,
            Self::Contradicted => &mut counts.refuted.closure,
            Self::Refuted => &mut counts.refuted.solver,
            Self::Cut => &mut counts.unknown.window,
            Self::Beyond => &mut counts.unknown.switches,
            Self::TimedOut => &mut counts.unknown.time,
            Self::Unconfirmed => &mut counts.unknown.unconfirmed,
            Self::Apart => &mut counts.unknown.apart,
            Self::TooMuch => &mut counts.unknown.limit,
        }
    }
}
