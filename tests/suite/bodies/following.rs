//! What instrumented bodies say of their values, held against what they do from other states.
//!
//! A run from one state says which operations a thread makes, where what it leaves comes from, and
//! by which conditions it goes on. With the memory of another state in its place that tells what
//! the body does from there: up to the first condition that does not hold, or that nothing is known
//! of. A run from that state has to do so.
//!
//! This shares no code with the predictor's machine but for expressions.

use std::collections::HashMap;

use predictor::trace::{EventId, Expression, Op, Trace, ValueId};
use racelog::contract::marker::Marker;
use racelog::trace::expression::is_true;
use racelog::trace::{Value, VarId};

type Memory = HashMap<VarId, Option<Value>>;

/// A run of a body.
struct Run {
    memory: Memory,
    events: Vec<EventId>,
}

/// What was compared.
#[derive(Default, Debug)]
pub(super) struct Compared {
    /// Pairs of runs of a body.
    pub(super) pairs: usize,
    /// Those of which one tells the other whole, though they read different things.
    pub(super) whole: usize,
    /// Values that were computed, and not just found again.
    pub(super) computed: usize,
}

/// The runs of each body, by the texts that mark them: `state BODY`, `body`, `done`.
fn runs(trace: &Trace) -> HashMap<String, Vec<Run>> {
    let mut runs: HashMap<String, Vec<Run>> = HashMap::new();
    let mut memory = Memory::new();
    let (mut name, mut open) = (String::new(), None::<Run>);
    for event in trace.events() {
        if let Some(Marker::Label(text)) = trace.marker(event) {
            match text {
                "body" => open = Some(Run { memory: memory.clone(), events: Vec::new() }),
                "done" => runs.entry(name.clone()).or_default().extend(open.take()),
                text => name = text.to_owned(),
            }
            continue;
        }
        if let Some(run) = &mut open {
            run.events.push(event);
        }
        if let Some((var, left)) = left(trace.op(event)) {
            memory.insert(var, Some(trace.values().get(left)));
        }
    }
    runs
}

/// What an operation leaves in its variable.
fn left(op: Op) -> Option<(VarId, ValueId)> {
    op.var().zip(op.left().copied())
}

/// What a body does from a state, as the run from another one tells it: each event, and the value
/// that it finds or leaves, if that is known.
fn told(trace: &Trace, run: &Run, memory: &Memory, compared: &mut Compared) -> Vec<Told> {
    let mut memory = memory.clone();
    let (mut found, mut other) = (HashMap::new(), None::<EventId>);
    let mut told = Vec::new();
    for &event in &run.events {
        let op = trace.op(event);
        let observed = |id: ValueId| trace.values().get(id);
        // A branch that code makes which does not record its own.
        let is_clean = other.is_none();
        if trace.is_guarded(event) && !is_clean {
            return told;
        }
        let finds = op.var().zip(op.found()).map(|(var, seen)| {
            let held = memory.get(&var).copied().unwrap_or(Some(observed(*seen)));
            if held != Some(observed(*seen)) && other.is_none() {
                other = Some(event);
            }
            found.insert(event, held);
            held
        });
        let data = trace.data(event);
        let compute = |expression: &Expression| {
            let since = data.and_then(|data| data.since);
            if since
                .zip(other)
                .is_some_and(|(since, other)| trace.position(other) <= since as usize)
            {
                return None;
            }
            expression.compute(|read| found.get(&read).copied().flatten())
        };
        let is = data.and_then(|data| data.is.as_ref());
        match op {
            Op::Branch | Op::Check { .. } if other.is_some() => {
                if !is.and_then(compute).is_some_and(is_true) {
                    return told;
                }
                compared.computed += 1;
            }
            Op::Cas { .. } | Op::CasFail { .. } if other.is_some() => return told,
            Op::Exclusive { .. } if other.is_some() => return told,
            _ => {}
        }
        let leaves = left(op).map(|(var, seen)| {
            let value = match is.and_then(compute) {
                Some(value) => {
                    compared.computed += usize::from(other.is_some());
                    Some(value)
                }
                None => Some(observed(seen)).filter(|_| other.is_none()),
            };
            memory.insert(var, value);
            value
        });
        told.push(Told { event, value: leaves.or(finds).flatten() });
    }
    told
}

struct Told {
    event: EventId,
    value: Option<Value>,
}

/// Compares all runs of each body with each other.
pub(super) fn compare(trace: &Trace) -> Compared {
    let mut compared = Compared::default();
    let place = |event: EventId| (trace.op(event).keyword(), trace.location(event));
    for (name, runs) in runs(trace) {
        for one in &runs {
            for other in &runs {
                let told = told(trace, one, &other.memory, &mut compared);
                compared.pairs += 1;
                let differs = one.memory != other.memory;
                compared.whole += usize::from(differs && told.len() == one.events.len());
                for (at, Told { event, value }) in told.iter().enumerate() {
                    let happened = other.events.get(at).map(|happened| place(*happened));
                    assert_eq!(
                        Some(place(*event)),
                        happened,
                        "{name}: {event} of a run from {:?} does not happen from {:?}",
                        one.memory,
                        other.memory,
                    );
                    let op = trace.op(other.events[at]);
                    let seen = op.left().or(op.found()).map(|id| trace.values().get(*id));
                    if let (Some(value), Some(seen)) = (value, seen) {
                        assert!(
                            *value == seen || seen == Value::Opaque,
                            "{name}: {event} of a run from {:?} says {value:?}, and {seen:?} \
                             happens from {:?}",
                            one.memory,
                            other.memory,
                        );
                    }
                }
            }
        }
    }
    compared
}
