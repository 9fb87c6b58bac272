//! The proofs that are tried for one goal: the cheap ones first, then the solver.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::fate::{Fate, Tried};
use super::run::Job;
use super::{Closed, Closures, Decided, Decider, HoldBack, PATIENCE, Proof, Waiting, histories};
use crate::encode::{Forced, Window};
use crate::goal::Goal;
use crate::solve::is_over;
use crate::trace::EventId;
use crate::witness::Witness;

/// How many steps holding a thread back may take for a signature, after the first pair.
const STEPS: usize = 1 << 20;

/// For how many pairs' time pairs of a signature may be thought about in vain. After that, others
/// are not followed to what they force, and no solver is asked about them.
const IN_VAIN: u32 = 2;

/// A check of the language has this part of the time of other goals: each addition of instrumented
/// code is one, and hardly any can fail.
const OF_LANGUAGE: u32 = 20;

impl<'a> Job<'a> {
    /// What becomes of a goal, if the cheap proofs tell; otherwise what is known to follow from its
    /// being reached.
    pub(super) fn without_solver(
        &self,
        goal: &Goal,
        tried: &mut Tried,
    ) -> Result<Fate, Option<Forced>> {
        let is_first = tried.goals == 0;
        tried.goals += 1;
        // What holding a thread back can prove of a signature, it most often proves of the first
        // goal: that much time there is.
        if !is_first && is_over(self.deadline) {
            return Ok(Fate::TimedOut);
        }
        let deadline = self.deadline_of(goal, Duration::ZERO);
        if self.options.proofs.histories && self.has_crossed_histories(goal) {
            return Ok(Fate::Crossed);
        }
        if self.options.proofs.flags && self.flags.exclude(self.trace, goal) {
            return Ok(Fate::Claimed);
        }
        if let Some(witness) = self.hold_back(goal, is_first, tried) {
            return Ok(Fate::Proven(witness, Proof::HeldBack));
        }
        let closed = match self.is_in_vain(goal, tried) {
            true => Closed::Unfinished,
            false => self.close(goal, deadline),
        };
        let forced = match closed {
            Closed::Proven(witness) => return Ok(Fate::Proven(witness, Proof::Closure)),
            Closed::Impossible => return Ok(Fate::Contradicted),
            Closed::Open(forced) => Some(forced),
            Closed::Unfinished => None,
        };
        match self.wait(goal, tried, deadline) {
            Some(witness) => Ok(Fate::Proven(witness, Proof::Waiting)),
            None => Err(forced),
        }
    }

    /// Whether two of the goal's next events are kept apart by the order in which locks were taken.
    fn has_crossed_histories(&self, goal: &Goal) -> bool {
        let next = goal.next();
        let exclude =
            |a: &EventId, b: &EventId| histories::exclude(self.trace, &self.index.regions, *a, *b);
        (1..next.len()).any(|at| next[..at].iter().any(|earlier| exclude(earlier, &next[at])))
    }

    /// What becomes of a goal that the cheap proofs leave.
    pub(super) fn by_solver(
        &self,
        goal: &Goal,
        forced: Option<&Forced>,
        deadline: Option<Instant>,
        tried: &Tried,
        deciders: &mut FxHashMap<usize, Decider<'a>>,
    ) -> Fate {
        if self.is_in_vain(goal, tried) {
            return Fate::TimedOut;
        }
        match self.decide(goal, forced, deadline, deciders) {
            Some(Decided::Impossible) if self.windows.len() > 1 => Fate::Cut,
            Some(decided) => Fate::of(decided),
            None => Fate::Apart,
        }
    }

    /// Whether so much time was spent on a signature that only quick proofs are tried for its other
    /// goals.
    fn is_in_vain(&self, goal: &Goal, tried: &Tried) -> bool {
        let limit = self.time_of(goal).map(|time| time.saturating_mul(IN_VAIN));
        !self.options.all_goals && limit.is_some_and(|limit| tried.in_vain >= limit)
    }

    /// How long to think about a goal.
    fn time_of(&self, goal: &Goal) -> Option<Duration> {
        let part = if matches!(goal, Goal::Panic(_)) { OF_LANGUAGE } else { 1 };
        self.options.goal_time.map(|time| time / part)
    }

    /// Until when there is time for a goal that has been thought about for so long.
    pub(super) fn deadline_of(&self, goal: &Goal, spent: Duration) -> Option<Instant> {
        self.until(self.time_of(goal), spent)
    }

    /// As [`Self::deadline_of`], of what is no goal yet.
    pub(super) fn deadline(&self, spent: Duration) -> Option<Instant> {
        self.until(self.options.goal_time, spent)
    }

    fn until(&self, time: Option<Duration>, spent: Duration) -> Option<Instant> {
        let left = time.map(|time| time.saturating_sub(spent));
        let deadline = left.map(|left| Instant::now() + left);
        deadline.into_iter().chain(self.deadline).min()
    }

    /// Tries to prove a goal by holding a thread back. The checker decides.
    fn hold_back(&self, goal: &Goal, is_first: bool, tried: &mut Tried) -> Option<Witness> {
        if !self.options.proofs.hold_back || (!is_first && tried.steps > STEPS) {
            return None;
        }
        let hold_back = HoldBack { trace: self.trace, index: self.index };
        tried.steps += hold_back.steps(goal);
        hold_back.prove(goal, self.checker)
    }

    /// Follows what a goal forces.
    fn close(&self, goal: &Goal, deadline: Option<Instant>) -> Closed {
        if !self.options.proofs.closure {
            return Closed::Unfinished;
        }
        let (trace, index, writes, orders) = (self.trace, self.index, self.writes, self.orders);
        Closures { trace, index, writes, orders }.decide(goal, self.checker, deadline)
    }

    /// Tries to prove a goal by holding a thread back until others have done what is missing.
    fn wait(&self, goal: &Goal, tried: &mut Tried, deadline: Option<Instant>) -> Option<Witness> {
        let pair = goal.as_race()?;
        if !self.options.proofs.waiting || tried.waited >= PATIENCE {
            return None;
        }
        let waiting = Waiting { steps: PATIENCE - tried.waited, deadline };
        let (witness, steps) = waiting.prove(pair, self.checker);
        tried.waited += steps;
        witness
    }

    /// Decides a goal in each window that has all its events, until it is proven.
    fn decide(
        &self,
        goal: &Goal,
        forced: Option<&Forced>,
        deadline: Option<Instant>,
        deciders: &mut FxHashMap<usize, Decider<'a>>,
    ) -> Option<Decided> {
        let contains = |window: &Window| goal.events().all(|event| window.contains(event));
        let last = goal.events().max()?;
        let first = self.windows.partition_point(|window| window.range().end <= last.index());
        let mut decided = None;
        for (number, window) in self.windows.iter().enumerate().skip(first) {
            if !contains(window) {
                break;
            }
            if is_over(deadline) {
                return Some(Decided::Unknown);
            }
            match self.decider(number, deciders).decide(goal, forced, deadline) {
                proven @ Decided::Proven(_) => return Some(proven),
                Decided::Impossible => decided = decided.or(Some(Decided::Impossible)),
                other => decided = Some(other),
            }
        }
        decided
    }

    /// The decider of a window.
    pub(super) fn decider<'d>(
        &self,
        window: usize,
        deciders: &'d mut FxHashMap<usize, Decider<'a>>,
    ) -> &'d mut Decider<'a> {
        deciders.entry(window).or_insert_with(|| {
            let solver = self.options.solver.build();
            Decider::new(self.trace, self.index, &self.windows[window], self.checker, solver)
        })
    }
}
