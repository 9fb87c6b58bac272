//! The steps of a witness that people read.

use racelog::trace::{LockId, Object, ThreadId};
use serde::{Deserialize, Serialize};

use super::{Operation, Place, held};
use crate::trace::{EventId, Op, Printer, Trace};

/// A step of a schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "(u64, Action)", into = "(u64, Action)")]
pub struct Step {
    /// How many events of the schedule are left out between the last step and this one.
    pub skipped: u64,
    /// What is done.
    pub action: Action,
}

/// What an event does, and where.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Action {
    /// The number of the event.
    pub event: u64,
    /// Its thread.
    pub thread: String,
    /// What it does.
    #[serde(flatten)]
    pub does: Operation,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

impl From<(u64, Action)> for Step {
    fn from((skipped, action): (u64, Action)) -> Self {
        Self { skipped, action }
    }
}

impl From<Step> for (u64, Action) {
    fn from(step: Step) -> Self {
        (step.skipped, step.action)
    }
}

/// How many steps are kept at most.
const MOST: usize = 40;

/// How many steps are kept at least, if there are as many.
const FEWEST: usize = 8;

/// How many events of each thread of a part are kept for sure before the part, if they fit.
const LAST: usize = 4;

/// How many steps a witness may have, if so many findings of a trace have one: all steps together
/// are no more than a few times the events of the trace.
pub fn most_steps(trace: &Trace, findings: usize) -> usize {
    (2 * trace.len() / findings.max(1)).clamp(FEWEST, MOST)
}

/// The steps of a witness that matter: the parts of the finding, what their threads did last, all
/// accesses of their variables, what starts the threads, and what they do to locks. The nearer to
/// the end the better. `printer` is the trace's: a new one takes as long as the trace has names.
pub fn steps(
    trace: &Trace,
    witness: &[EventId],
    parts: &[EventId],
    most: usize,
    printer: &mut Printer<'_>,
) -> Vec<Step> {
    let mut threads: Vec<ThreadId> = parts.iter().map(|part| trace.thread(*part)).collect();
    threads.sort_unstable();
    threads.dedup();
    let vars: Vec<_> = parts.iter().filter_map(|part| trace.op(*part).var()).collect();
    let locks: Vec<LockId> =
        parts.iter().flat_map(|part| held(trace, *part)).map(|held| held.lock).collect();
    let mut last: Vec<usize> = vec![LAST + 1; threads.len()];
    let mut kept: Vec<usize> = Vec::new();
    let most = most.max(parts.len());
    // Parts are kept wherever they stand.
    let mut to_come = witness.iter().filter(|event| parts.contains(event)).count();
    for (at, event) in witness.iter().enumerate().rev() {
        if kept.len() == most {
            break;
        }
        if parts.contains(event) {
            to_come -= 1;
            kept.push(at);
            continue;
        }
        if trace.is_of_added_lock(*event) || kept.len() + to_come == most {
            continue;
        }
        let op = trace.op(*event);
        let own = threads.iter().position(|thread| *thread == trace.thread(*event));
        let is_last = own.is_some_and(|own| {
            last[own] = last[own].saturating_sub(1);
            last[own] > 1
        });
        let matters = match op {
            Op::Fork(child) => threads.contains(&child),
            Op::Acquire(lock) | Op::ReadAcquire(lock) => own.is_some() || locks.contains(&lock),
            Op::Release(lock) | Op::ReadRelease(lock) => own.is_some() || locks.contains(&lock),
            _ => op.var().is_some_and(|var| vars.contains(&var)),
        };
        if is_last || matters {
            kept.push(at);
        }
    }
    kept.reverse();
    let mut next = 0;
    let steps = kept.into_iter().map(|at| {
        let event = witness[at];
        let skipped = (at - next) as u64;
        next = at + 1;
        let action = Action {
            event: event.number(),
            thread: printer.name(Object::Thread(trace.thread(event))).to_owned(),
            does: Operation::of(printer, event),
            place: printer.location(event).map(|text| Place::of_trace(&text)),
        };
        Step { skipped, action }
    });
    steps.collect()
}
