//! The quick yes: the observed run with one thread held up right before it would wait, until no
//! other thread can go on. A notification may then come too early, or a channel be full too soon.
//!
//! Late events are tried first, for what comes after them is short. The checker has the last word.

use std::collections::BTreeMap;
use std::time::Instant;

use racelog::trace::ThreadId;

use crate::goal::{Goal, ProgramPoint};
use crate::index::endless_wait;
use crate::predict::PATIENCE;
use crate::predict::patient_run::{Limits, PatientRun};
use crate::trace::{EventId, Op, Trace};
use crate::witness::{Checker, Witness};

/// How many events of a thread that stand at one place of the program are tried: two tokens of one
/// thread become one only before the last but one.
const AT_A_PLACE: usize = 4;

/// Threads that are held up, one after the other.
pub(super) struct HoldUp<'a> {
    checker: &'a Checker<'a>,
    deadline: Option<Instant>,
    /// Before which events, the first to be tried last.
    events: Vec<EventId>,
    /// How many steps may be taken yet.
    steps: usize,
}

impl<'a> HoldUp<'a> {
    pub(super) fn new(checker: &'a Checker<'a>, deadline: Option<Instant>) -> Self {
        let events = events(checker.machine().trace());
        Self { checker, deadline, events, steps: PATIENCE }
    }

    fn attempt(&mut self, event: EventId) -> Option<Witness> {
        let mut run = PatientRun::new(self.checker, event)?;
        let limits = Limits { steps: self.steps, deadline: self.deadline };
        let exhausted = run.exhaust(&limits);
        self.steps = self.steps.saturating_sub(run.steps());
        let stall = run.stall().filter(|_| exhausted)?;
        let (observed, rest) = (event.index(), run.taken().to_vec());
        let witness = Witness { observed, rest, goal: Goal::Stall(stall) };
        self.checker.check(&witness).is_ok().then_some(witness)
    }
}

/// The stalls that are found.
impl Iterator for HoldUp<'_> {
    type Item = Witness;

    fn next(&mut self) -> Option<Witness> {
        let trace = self.checker.machine().trace();
        while let Some(event) = self.events.pop() {
            // To get there takes a copy of a state, and some steps from where it was kept.
            let start = trace.var_count() + trace.lock_count() + trace.len() / 256;
            self.steps = self.steps.saturating_sub(start);
            if self.steps == 0 {
                return None;
            }
            if let Some(witness) = self.attempt(event) {
                return Some(witness);
            }
        }
        None
    }
}

/// The events before which it may matter how long a thread takes: where it waits, or begins to.
fn events(trace: &Trace) -> Vec<EventId> {
    let mut at_place: BTreeMap<(ThreadId, ProgramPoint), usize> = BTreeMap::new();
    let mut events: Vec<EventId> = Vec::new();
    for event in (0..trace.len()).rev().map(EventId::from_index) {
        let begins_to_wait = matches!(trace.op(event), Op::Wait { .. });
        let waits = begins_to_wait || endless_wait(trace, event).is_some();
        if waits {
            let place = (trace.thread(event), ProgramPoint::of(trace, event));
            let count = at_place.entry(place).or_default();
            *count += 1;
            if *count <= AT_A_PLACE {
                events.push(event);
            }
        }
    }
    events.reverse();
    events
}
