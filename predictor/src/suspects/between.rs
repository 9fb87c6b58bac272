//! Checks and acts that another thread can come between.
//!
//! Of an atomic: a thread loads it and later writes it, and another thread writes it as well. Of what
//! a lock guards: a thread takes the lock twice, and another takes it as well. After the model
//! `relaxed`, nothing is asked of what the threads find. Most of these are right: that a thread acts
//! by what it found is a guess.

use std::collections::BTreeMap;

use racelog::contract::place::PlaceList;
use racelog::contract::seed::Manoeuvre;
use racelog::trace::{LocId, Object, ThreadId};

use super::{Suspect, Target, Why};
use crate::trace::{EventId, Op, Trace};

/// At how many places another thread is looked for that comes between.
const MOST: usize = 8;

/// What a thread does to an object that another could come between.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It finds something out.
    Check,
    /// It changes something.
    Act,
    /// It takes a lock, and may do either.
    Both,
}

pub(super) fn find(trace: &Trace) -> Vec<Suspect> {
    // Two steps of a thread that follow each other, and what others do, each place once.
    let mut last: BTreeMap<(ThreadId, Object), (EventId, Step)> = BTreeMap::new();
    let mut pairs: BTreeMap<(Object, LocId, LocId), [EventId; 2]> = BTreeMap::new();
    let mut acts: BTreeMap<Object, Vec<EventId>> = BTreeMap::new();
    for event in trace.events() {
        let Some((object, step)) = step(trace, event) else { continue };
        let Some(place) = trace.location(event) else { continue };
        let key = (trace.thread(event), object);
        if let Some((before, first)) = last.insert(key, (event, step)) {
            let is_pair = first != Step::Act && step != Step::Check;
            if let (true, Some(first)) = (is_pair, trace.location(before)) {
                pairs.entry((object, first, place)).or_insert([before, event]);
            }
        }
        if step != Step::Check {
            let known = acts.entry(object).or_default();
            let same = |it: &EventId| {
                trace.location(*it) == Some(place) && trace.thread(*it) == trace.thread(event)
            };
            if !known.iter().any(same) && known.len() < MOST {
                known.push(event);
            }
        }
    }
    let mut found = Vec::new();
    for ((object, ..), [check, act]) in pairs {
        for other in acts.get(&object).into_iter().flatten() {
            if trace.thread(*other) == trace.thread(check) {
                continue;
            }
            let places = [check, *other, act].map(|event| trace.source_place(event));
            let places = places.into_iter().collect::<Option<Vec<_>>>();
            let why = match object {
                Object::Lock(_) => Why::ChangedUnderLock,
                _ => Why::ChangedAtomic,
            };
            found.extend(places.map(|places| Suspect {
                target: Target::Held(Manoeuvre::Between, PlaceList(places)),
                events: vec![check, *other, act],
                why,
            }));
        }
    }
    found
}

/// What an event is a step of, if it is one.
pub(super) fn step(trace: &Trace, event: EventId) -> Option<(Object, Step)> {
    let op = trace.op(event);
    if let Op::Acquire(lock) = op {
        let lock = trace.is_of_program(lock).then_some(lock)?;
        return Some((Object::Lock(trace.lock_of_program(lock)), Step::Both));
    }
    if !op.is_atomic() {
        return None;
    }
    let object = Object::Var(trace.accessed(event)?);
    let step = match op.left() {
        Some(_) => Step::Act,
        None => Step::Check,
    };
    Some((object, step))
}
