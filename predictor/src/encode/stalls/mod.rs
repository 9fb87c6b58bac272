//! Stalls: every thread that has been started has come to its end or is blocked, and some thread, a
//! *root*, waits for none that is blocked.
//!
//! Who holds what when the prefix ends is a matter of the threads' positions, and so is who waits
//! for whom. So a stall is a choice of one event for each thread that is left, with the condition
//! that its thread is blocked there (`waits`, `holders`). Which threads are roots follows from the
//! positions, too; a set of roots can be excluded, and then the next one be asked for.
//!
//! A state with a circle of threads that wait for each other is no stall but a deadlock. Circles
//! are not excluded beforehand, for there may be many: the positions of one are once a solution has
//! it.

mod holders;
mod waits;

use std::collections::BTreeMap;

use racelog::trace::{Awaited, ChannelId, LockId, ThreadId};
use rustc_hash::FxHashMap;

use self::holders::Holders;
use super::{Encoder, channels, foreign, program_order};
use crate::goal::ProgramPoint;
use crate::index::{can_be_root, endless_wait};
use crate::solve::Model;
use crate::solve::formula::Lit;
use crate::trace::EventId;

/// What has been said of stalls.
#[derive(Debug)]
pub(super) struct Asked {
    /// That the prefix ends in one.
    stall: Lit,
    /// Where threads may be blocked then.
    stops: BTreeMap<EventId, Stop>,
    /// Who holds each lock then: all, or only who writes.
    holders: FxHashMap<(LockId, bool), Holders>,
    /// That a channel is empty then.
    empty: FxHashMap<ChannelId, Lit>,
    /// That a channel is full then.
    full: BTreeMap<ChannelId, Lit>,
    /// That the message of a `send` is in its channel then.
    there: FxHashMap<EventId, Lit>,
    /// That no root stands at a place then.
    rootless: FxHashMap<ProgramPoint, Lit>,
}

/// An event that a thread may be blocked at.
#[derive(Clone, Copy, Debug)]
struct Stop {
    /// That it is.
    blocked: Lit,
    /// What makes it a root; none if it cannot be one.
    root: Option<Root>,
}

#[derive(Clone, Copy, Debug)]
struct Root {
    /// That it is one.
    is: Lit,
    /// That it waits for a thread that is blocked as well.
    waits_for_blocked: Lit,
}

/// That the prefix ends in a stall that has not been excluded.
pub(super) fn any(encoder: &mut Encoder<'_>) -> Lit {
    with_asked(encoder, |_, asked| asked.stall)
}

/// That the prefix ends in a stall with these roots.
pub(super) fn with_roots(encoder: &mut Encoder<'_>, roots: &[EventId]) -> Vec<Lit> {
    with_asked(encoder, |encoder, asked| {
        let is_root = |event: &EventId| {
            let stop = asked.stops.get(event);
            stop.and_then(|stop| stop.root).map_or(Lit::FALSE, |root| root.is)
        };
        let mut assumptions = vec![asked.stall];
        assumptions.extend(roots.iter().map(is_root));
        let others: Vec<EventId> =
            asked.stops.keys().filter(|event| !roots.contains(event)).copied().collect();
        for other in others {
            assumptions.push(rootless(encoder, asked, ProgramPoint::Event(other), |event| {
                ProgramPoint::Event(event)
            }));
        }
        assumptions
    })
}

impl Encoder<'_> {
    /// Excludes all stalls whose roots stand where these do, and at no other place.
    pub fn exclude_stall(&mut self, roots: &[EventId], place: impl Fn(EventId) -> ProgramPoint) {
        with_asked(self, |encoder, asked| {
            let mut places: Vec<ProgramPoint> = roots.iter().map(|root| place(*root)).collect();
            places.sort_unstable();
            places.dedup();
            let mut clause = vec![!asked.stall];
            for (event, stop) in &asked.stops {
                if let Some(root) = stop.root
                    && places.binary_search(&place(*event)).is_err()
                {
                    clause.push(root.is);
                }
            }
            for at in places {
                clause.push(rootless(encoder, asked, at, &place));
            }
            encoder.formula.clause(&clause);
        });
    }

    /// Excludes all stalls in which threads stand at all of these events, which wait for each other
    /// in a circle.
    pub fn exclude_circle(&mut self, events: &[EventId]) {
        with_asked(self, |encoder, asked| {
            let blocked = |event: &EventId| asked.stops.get(event).map(|stop| !stop.blocked);
            let mut clause: Vec<Lit> = events.iter().filter_map(blocked).collect();
            clause.push(!asked.stall);
            encoder.formula.clause(&clause);
        });
    }
}

/// Does something with what has been said of stalls; it is said first if it has not been.
fn with_asked<T>(
    encoder: &mut Encoder<'_>,
    act: impl FnOnce(&mut Encoder<'_>, &mut Asked) -> T,
) -> T {
    let mut asked = match encoder.stalls.take() {
        Some(asked) => asked,
        None => Box::new(state(encoder)),
    };
    let done = act(encoder, &mut asked);
    encoder.stalls = Some(asked);
    done
}

fn state(encoder: &mut Encoder<'_>) -> Asked {
    let mut asked = Asked {
        stall: encoder.formula.proposition(false),
        stops: BTreeMap::new(),
        holders: FxHashMap::default(),
        empty: FxHashMap::default(),
        full: BTreeMap::new(),
        there: FxHashMap::default(),
        rootless: FxHashMap::default(),
    };
    for thread in encoder.trace.threads() {
        state_thread(encoder, &mut asked, thread);
    }
    // Where no threads wait for each other in a circle, one waits for none that is blocked.
    let roots = asked.stops.values().filter_map(|stop| stop.root).map(|root| root.is);
    let clause: Vec<Lit> = [!asked.stall].into_iter().chain(roots).collect();
    encoder.formula.clause(&clause);
    asked
}

/// In a stall, a thread that has been started goes on until it is blocked or has come to its end. If
/// its end is not known, it is blocked.
fn state_thread(encoder: &mut Encoder<'_>, asked: &mut Asked, thread: ThreadId) {
    let trace = encoder.trace;
    let mut before = trace.fork_of(thread);
    for event in trace.events_of_thread(thread) {
        let stop =
            endless_wait(trace, *event).and_then(|it| state_stop(encoder, asked, *event, it));
        if let Some(stop) = stop {
            asked.stops.insert(*event, stop);
        }
        let has_come = before.map_or(Lit::TRUE, |before| encoder.included(before));
        let blocked = stop.map_or(Lit::FALSE, |stop| stop.blocked);
        // The likeliest comes last: most threads come to their ends.
        let goes_on = encoder.included(*event);
        encoder.formula.clause(&[!asked.stall, !has_come, blocked, goes_on]);
        before = Some(*event);
    }
    let over = before.map_or(Lit::TRUE, |before| encoder.included(before));
    if !trace.has_ended(thread) {
        encoder.formula.clause(&[!asked.stall, !over]);
    } else if let Some(last) = before.filter(|_| trace.ends_guarded(thread)) {
        let clean = encoder.clean_after(last);
        encoder.formula.clause(&[!asked.stall, !over, clean]);
    }
}

/// A thread that is blocked at an event has come to it and has not taken it, and something keeps
/// it.
fn state_stop(
    encoder: &mut Encoder<'_>,
    asked: &mut Asked,
    event: EventId,
    awaited: Awaited,
) -> Option<Stop> {
    let blocked = encoder.formula.proposition(false);
    let root = waits::state(encoder, asked, event, awaited, blocked)?;
    let root = root.filter(|_| can_be_root(encoder.trace, encoder.index, event, awaited));
    let mut conditions = program_order::reached(encoder, event);
    conditions.extend(foreign::allowed(encoder, event));
    conditions.push(!encoder.included(event));
    encoder.formula.implies(&[blocked], &conditions);
    Some(Stop { blocked, root })
}

/// That no root stands at a place.
fn rootless(
    encoder: &mut Encoder<'_>,
    asked: &mut Asked,
    at: ProgramPoint,
    place: impl Fn(EventId) -> ProgramPoint,
) -> Lit {
    if let Some(rootless) = asked.rootless.get(&at) {
        return *rootless;
    }
    let rootless = encoder.formula.proposition(false);
    for (event, stop) in &asked.stops {
        if let Some(root) = stop.root
            && place(*event) == at
        {
            encoder.formula.clause(&[!rootless, !stop.blocked, root.waits_for_blocked]);
        }
    }
    asked.rootless.insert(at, rootless);
    rootless
}

/// States that a channel which is to be full in the end has room left in a sequence.
pub(super) fn refine(encoder: &mut Encoder<'_>, model: &Model, sequence: &[EventId]) {
    let Some(mut asked) = encoder.stalls.take() else { return };
    let full: Vec<(ChannelId, Lit)> = asked.full.iter().map(|(at, full)| (*at, *full)).collect();
    for (channel, full) in full.into_iter().filter(|(_, full)| model.is_true(*full)) {
        channels::refine_full_at_end(encoder, channel, full, sequence, &mut asked.there);
    }
    encoder.stalls = Some(asked);
}
