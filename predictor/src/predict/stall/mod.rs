//! Stalls: threads that wait for an action that no thread is left to do.
//!
//! There are no candidates to go through one by one, for a stall is said by its roots, and any set
//! of events that wait could be one. Some are found by holding threads up (`hold_up`). Then the
//! solver is asked for any other; what it finds is excluded; and it is asked again, until there is
//! none left.

mod candidates;
mod hold_up;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

pub(super) use self::candidates::StallCandidates;
use self::hold_up::HoldUp;
use super::fate::{Fate, Tried};
use super::run::Job;
use super::{Decider, Prediction, Proof, Proven};
use crate::goal::{Goal, ProgramPoint};
use crate::trace::EventId;

/// Up to which size, as [`StallCandidates`] estimates it, the solver is asked about a trace as a
/// whole: if all goals are to be decided, and if not. It takes time that grows with the square of
/// the size.
const SIZE: [usize; 2] = [1 << 18, 1 << 14];

/// Which part of the time for one goal the solver has for all stalls, unless all goals are to be
/// decided: every trace with a channel or a condvar takes that time.
const PART_OF_TIME: u32 = 4;

impl<'a> Job<'a> {
    /// Finds the stalls of a trace, one for each signature or all.
    pub(super) fn stalls(
        &self,
        candidates: &StallCandidates,
        deciders: &mut FxHashMap<usize, Decider<'a>>,
        found: &mut Prediction,
    ) {
        self.held_up(deciders, found);
        let deadline = self.stall_deadline();
        let mut asked = false;
        loop {
            let started = Instant::now();
            let fate = if self.windows.len() > 1 {
                // A window does not have the ends of all threads.
                Fate::Cut
            } else if candidates.size > self.largest() || found.found.len() >= self.enough_stalls()
            {
                Fate::TooMuch
            } else {
                let decider = self.decider(0, deciders);
                if !std::mem::replace(&mut asked, true) {
                    // Those with too many thread switches, too: they are counted.
                    let known = found.found.iter().map(Proven::goal).chain(&found.unknown);
                    known.for_each(|goal| self.exclude(decider, goal));
                }
                let deadline = deadline.into_iter().chain(self.deadline(Duration::ZERO)).min();
                Fate::of(decider.decide_any_stall(deadline))
            };
            found.counts.candidates += 1;
            let Fate::Proven(witness, _) = &fate else {
                *fate.count(&mut found.counts) += 1;
                return;
            };
            let goal = witness.goal.clone();
            self.exclude(self.decider(0, deciders), &goal);
            let deadline = self.deadline(started.elapsed());
            let fate = self.with_few_switches(&goal, fate, deadline, deciders);
            fate.note(goal, started.elapsed(), &mut Tried::default(), found);
        }
    }

    /// Finds some stalls by holding threads up.
    fn held_up(&self, deciders: &mut FxHashMap<usize, Decider<'a>>, found: &mut Prediction) {
        if !self.options.proofs.waiting {
            return;
        }
        let mut known: BTreeSet<Vec<ProgramPoint>> = BTreeSet::new();
        let mut started = Instant::now();
        for witness in HoldUp::new(self.checker, self.deadline(Duration::ZERO)) {
            let goal = witness.goal.clone();
            if known.insert(self.places(&goal)) {
                found.counts.candidates += 1;
                let fate = Fate::Proven(witness, Proof::Waiting);
                let deadline = self.deadline(started.elapsed());
                let fate = self.with_few_switches(&goal, fate, deadline, deciders);
                fate.note(goal, started.elapsed(), &mut Tried::default(), found);
                started = Instant::now();
            }
        }
    }

    /// Excludes what is the same stall as this one.
    fn exclude(&self, decider: &mut Decider<'a>, stall: &Goal) {
        decider.exclude_stall(stall.next(), |event| self.place(event));
    }

    /// Where the roots of a stall stand.
    fn places(&self, stall: &Goal) -> Vec<ProgramPoint> {
        let mut places: Vec<_> = stall.next().iter().map(|event| self.place(*event)).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Where an event stands, if roots at the same place make the same stall; else it stands for
    /// itself.
    fn place(&self, event: EventId) -> ProgramPoint {
        match self.options.all_goals {
            true => ProgramPoint::Event(event),
            false => ProgramPoint::of(self.trace, event),
        }
    }

    /// The size up to which the solver is asked.
    fn largest(&self) -> usize {
        SIZE[usize::from(!self.options.all_goals)]
    }

    /// How many stalls are looked for at most.
    fn enough_stalls(&self) -> usize {
        match self.options.all_goals {
            true => usize::MAX,
            false => self.options.goals_per_signature.unwrap_or(usize::MAX),
        }
    }

    /// Until when the solver is asked about stalls.
    fn stall_deadline(&self) -> Option<Instant> {
        let time = self.options.goal_time.filter(|_| !self.options.all_goals);
        time.map(|time| Instant::now() + time / PART_OF_TIME)
    }
}
