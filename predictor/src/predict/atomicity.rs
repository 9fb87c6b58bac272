//! Atomicity violations: which could be some.
//!
//! Steps that stand at the same two places of the program form a group with the accesses of other
//! threads that stand at a third. What orders rule out of a group costs nothing a triple; the
//! triples that are left are enumerated on demand, those first whose accesses are near each other.

use std::collections::BTreeMap;

use racelog::trace::{ThreadId, VarId};

use super::MustOrder;
use crate::goal::atomicity::is_violation;
use crate::goal::steps::{self, Step};
use crate::goal::{Goal, GoalKinds, Meant, ProgramPoint, Violation};
use crate::trace::{EventId, Trace};

/// So many groups are looked at.
const MOST: usize = 1 << 20;

/// Accesses of a variable that differ only in when they happen.
type Accesses = BTreeMap<Key, Vec<EventId>>;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    point: ProgramPoint,
    thread: ThreadId,
    reads: bool,
    writes: bool,
    atomic: bool,
    exclusive: bool,
}

/// The candidates of a trace.
#[derive(Debug, Default)]
pub(super) struct Violations {
    steps: Vec<Vec<Step>>,
    accesses: BTreeMap<VarId, Accesses>,
    /// Places of steps, and another one where an access stands that could come between.
    pub(super) groups: Vec<(usize, ProgramPoint)>,
    /// How many triples were left out for there are too many groups.
    pub(super) left_out: u64,
    /// How many an order that all executions share rules out.
    pub(super) ordered: u64,
}

impl Violations {
    /// The triples of accesses that no serial order explains.
    pub(super) fn new(trace: &Trace, kinds: GoalKinds, orders: [Option<&MustOrder>; 2]) -> Self {
        let mut found = Self::default();
        let mut places: BTreeMap<(ProgramPoint, ProgramPoint, Meant), Vec<Step>> = BTreeMap::new();
        for step in steps::steps(trace, kinds).into_values().flatten() {
            let point = |event| ProgramPoint::of(trace, event);
            let key = (point(step.first), point(step.last), step.meant);
            if let Some(var) = trace.op(step.first).var() {
                found.accesses.entry(var).or_insert_with(|| accesses(trace, var));
                places.entry(key).or_default().push(step);
            }
        }
        found.steps = places.into_values().collect();
        let (mut groups, mut ordered, mut left_out) = (Vec::new(), 0, 0);
        for (at, steps) in found.steps.iter().enumerate() {
            // For each place between, how many triples there are that no order rules out.
            let mut left: BTreeMap<ProgramPoint, u64> = BTreeMap::new();
            for step in steps {
                for (point, events) in found.breaking(trace, step) {
                    let range = unordered(trace, step, events, orders);
                    ordered += (events.len() - range.len()) as u64;
                    *left.entry(point).or_default() += range.len() as u64;
                }
            }
            for (point, triples) in left.into_iter().filter(|(_, triples)| *triples > 0) {
                match groups.len() < MOST {
                    true => groups.push((at, point)),
                    false => left_out += triples,
                }
            }
        }
        Self { groups, ordered, left_out, ..found }
    }

    /// The accesses that could break a step if nothing ordered them, by their places.
    fn breaking<'v>(
        &'v self,
        trace: &'v Trace,
        step: &'v Step,
    ) -> impl Iterator<Item = (ProgramPoint, &'v [EventId])> + use<'v> {
        let accesses = trace.op(step.first).var().and_then(|var| self.accesses.get(&var));
        let accesses = accesses.into_iter().flatten();
        let breaking = accesses.filter(|(_, events)| {
            // All events of one key do the same.
            events.first().is_some_and(|event| is_violation(trace, step.first, *event, step.last))
        });
        breaking.map(|(key, events)| (key.point, events.as_slice()))
    }

    /// The goals of a group.
    pub(super) fn goals<'v>(
        &'v self,
        trace: &'v Trace,
        (at, point): (usize, ProgramPoint),
        orders: [Option<&'v MustOrder>; 2],
    ) -> impl Iterator<Item = Goal> + use<'v> {
        self.steps[at].iter().flat_map(move |step| {
            let here = self.breaking(trace, step).filter(move |(other, _)| *other == point);
            let events = here.flat_map(move |(_, events)| {
                let range = unordered(trace, step, events, orders);
                near_first(&events[range], step.last)
            });
            let breaks = events.filter(|event| step.is_broken_by(trace, *event));
            breaks.map(|between| {
                Goal::Atomicity(Violation::new(step.meant, step.first, between, step.last))
            })
        })
    }
}

fn accesses(trace: &Trace, var: VarId) -> Accesses {
    let mut accesses = Accesses::new();
    for event in trace.events_of_var(var) {
        let op = trace.op(*event);
        let key = Key {
            point: ProgramPoint::of(trace, *event),
            thread: trace.thread(*event),
            reads: op.reads(),
            writes: op.writes(),
            atomic: op.is_atomic(),
            exclusive: op.is_exclusive(),
        };
        accesses.entry(key).or_default().push(*event);
    }
    accesses
}

/// Which of these events of one thread neither come before the step in every execution nor after
/// it.
fn unordered(
    trace: &Trace,
    step: &Step,
    events: &[EventId],
    orders: [Option<&MustOrder>; 2],
) -> std::ops::Range<usize> {
    let orders = || orders.into_iter().flatten();
    let before = |event: &EventId| orders().any(|order| order.is_before(trace, *event, step.first));
    let not_after =
        |event: &EventId| !orders().any(|order| order.is_before(trace, step.last, *event));
    let start = events.partition_point(before);
    let end = events.partition_point(not_after);
    start..end.max(start)
}

/// Events of one thread, those near another event first.
fn near_first(events: &[EventId], to: EventId) -> impl Iterator<Item = EventId> + use<'_> {
    let (before, after) = events.split_at(events.partition_point(|event| *event < to));
    let mut after = after.iter().peekable();
    let mut before = before.iter().rev().peekable();
    std::iter::from_fn(move || {
        let distance = |event: &&EventId| event.index().abs_diff(to.index());
        match (after.peek().map(distance), before.peek().map(distance)) {
            (Some(later), Some(earlier)) if earlier < later => before.next(),
            (Some(_), _) => after.next(),
            (None, _) => before.next(),
        }
        .copied()
    })
}
