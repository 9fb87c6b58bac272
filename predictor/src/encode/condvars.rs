//! Condvars: who wakes up has been notified, by a `notify_all` during its stay or by a `notify_one`
//! that chose it; who times out has not been.
//!
//! A `notify_one` may choose any waiter, and has to choose one if a thread waits that has not been
//! notified. As long as no wait on a condvar times out or lasts to the end, a notification too many
//! does no harm, so the obligation need not be stated. Where one does, it is: all that happens on
//! such a condvar is stated at once.

use racelog::trace::CondvarId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Encoder;
use crate::index::Stay;
use crate::solve::formula::Lit;
use crate::trace::{EventId, Op};

/// What has been said of condvars.
#[derive(Debug, Default)]
pub(super) struct Stated {
    /// The condvars of which everything has been said.
    whole: FxHashSet<CondvarId>,
    /// Whether it matters who is not notified on a condvar: a wait times out, or lasts for ever.
    exact: FxHashMap<CondvarId, bool>,
    /// That a `notify_one` chooses the stay that begins with this `wait`.
    chosen: FxHashMap<(EventId, EventId), Lit>,
    chosen_by: FxHashMap<EventId, Vec<Lit>>,
    choosing: FxHashMap<EventId, Vec<Lit>>,
}

pub(super) fn state(encoder: &mut Encoder<'_>, event: EventId, condvar: CondvarId) {
    if is_exact(encoder, condvar) {
        state_exactly(encoder, condvar);
    } else if let Op::Wake { .. } = encoder.trace.op(event) {
        let number = encoder.index.stay_at[&event] as usize;
        let stay = encoder.index.condvars[condvar.index()].stays[number];
        state_wake(encoder, condvar, &stay, event);
    }
}

fn is_exact(encoder: &mut Encoder<'_>, condvar: CondvarId) -> bool {
    let (index, window) = (encoder.index, encoder.window);
    *encoder.condvars.exact.entry(condvar).or_insert_with(|| {
        let stays = &index.condvars[condvar.index()].stays;
        stays.iter().any(|stay| stay.times_out && stay.end.is_some_and(|end| window.contains(end)))
    })
}

/// The events of a list that are in the window.
fn inside(encoder: &Encoder<'_>, events: &[EventId]) -> Vec<EventId> {
    events.iter().copied().filter(|event| encoder.window.contains(*event)).collect()
}

/// Whether the waiter had been notified when the window started.
fn notified_before(encoder: &Encoder<'_>, stay: &Stay) -> bool {
    stay.wait < encoder.window.start
        && encoder.window.state.is_notified(encoder.trace.thread(stay.wait))
}

/// Where a stay ends, if that can be in the prefix.
fn end(encoder: &Encoder<'_>, stay: &Stay) -> Option<EventId> {
    stay.end.filter(|end| *end < encoder.window.end)
}

fn state_wake(encoder: &mut Encoder<'_>, condvar: CondvarId, stay: &Stay, wake: EventId) {
    let index = encoder.index;
    let events = &index.condvars[condvar.index()];
    let mut reasons = vec![!encoder.included(wake)];
    if notified_before(encoder, stay) {
        reasons.push(Lit::TRUE);
    }
    for notify in inside(encoder, &events.notify_all) {
        let conditions = [
            encoder.included(notify),
            encoder.before(stay.wait, notify),
            encoder.before(notify, wake),
        ];
        reasons.push(encoder.all(&conditions));
    }
    for notify in inside(encoder, &events.notify_one) {
        reasons.push(chosen(encoder, notify, stay));
    }
    encoder.formula.clause(&reasons);
}

/// That a `notify_one` chooses a waiter.
fn chosen(encoder: &mut Encoder<'_>, notify: EventId, stay: &Stay) -> Lit {
    if encoder.trace.thread(notify) == encoder.trace.thread(stay.wait) {
        return Lit::FALSE;
    }
    if let Some(lit) = encoder.condvars.chosen.get(&(notify, stay.wait)) {
        return *lit;
    }
    let chosen = encoder.formula.proposition(false);
    let conditions =
        [encoder.included(notify), encoder.included(stay.wait), encoder.before(stay.wait, notify)];
    encoder.formula.implies(&[chosen], &conditions);
    if let Some(end) = end(encoder, stay) {
        let (over, later) = (encoder.included(end), encoder.before(notify, end));
        encoder.formula.clause(&[!chosen, !over, later]);
    }
    // It chooses one waiter, and nobody chooses a waiter again.
    let stated = &mut encoder.condvars;
    stated.chosen.insert((notify, stay.wait), chosen);
    let lists = [
        stated.chosen_by.entry(notify).or_default(),
        stated.choosing.entry(stay.wait).or_default(),
    ];
    for others in lists {
        for other in others.iter() {
            encoder.formula.clause(&[!chosen, !*other]);
        }
        others.push(chosen);
    }
    chosen
}

fn state_whole(encoder: &mut Encoder<'_>, condvar: CondvarId) {
    let index = encoder.index;
    let events = &index.condvars[condvar.index()];
    let (start, window_end) = (encoder.window.start, encoder.window.end);
    let stays: Vec<Stay> = events
        .stays
        .iter()
        .filter(|stay| stay.wait < window_end && stay.end.is_none_or(|end| end >= start))
        .copied()
        .collect();
    let notify_one = inside(encoder, &events.notify_one);
    let notify_all = inside(encoder, &events.notify_all);
    for stay in &stays {
        match end(encoder, stay) {
            Some(end) if stay.times_out => {
                let timeout = encoder.included(end);
                let (one, all) = (&notify_one, &notify_all);
                state_not_notified(encoder, stay, timeout, Some(end), one, all);
            }
            Some(end) => state_wake(encoder, condvar, stay, end),
            None => {}
        }
        state_choice_is_new(encoder, stay, &notify_one, &notify_all);
        for notify in &notify_one {
            state_obligation(encoder, stay, *notify, &stays, &notify_one, &notify_all);
        }
    }
}

/// If a condition holds, a waiter has not been notified: when its wait ends with this event, or
/// when the prefix ends.
fn state_not_notified(
    encoder: &mut Encoder<'_>,
    stay: &Stay,
    condition: Lit,
    end: Option<EventId>,
    notify_one: &[EventId],
    notify_all: &[EventId],
) {
    if notified_before(encoder, stay) {
        encoder.formula.clause(&[!condition]);
    }
    for notify in notify_all {
        let happens = encoder.included(*notify);
        let earlier = encoder.before(*notify, stay.wait);
        let later = end.map_or(Lit::FALSE, |end| encoder.before(end, *notify));
        encoder.formula.clause(&[!condition, !happens, earlier, later]);
    }
    for notify in notify_one {
        let chosen = chosen(encoder, *notify, stay);
        encoder.formula.clause(&[!condition, !chosen]);
    }
}

/// If a condition holds, a waiter whose wait would end with this event is never notified.
pub(super) fn state_never_notified(
    encoder: &mut Encoder<'_>,
    condvar: CondvarId,
    wake: EventId,
    condition: Lit,
) {
    state_exactly(encoder, condvar);
    let index = encoder.index;
    let events = &index.condvars[condvar.index()];
    let stay = events.stays[index.stay_at[&wake] as usize];
    let notify_one = inside(encoder, &events.notify_one);
    let notify_all = inside(encoder, &events.notify_all);
    state_not_notified(encoder, &stay, condition, None, &notify_one, &notify_all);
}

/// States all that happens on a condvar, because it matters who is not notified.
fn state_exactly(encoder: &mut Encoder<'_>, condvar: CondvarId) {
    encoder.condvars.exact.insert(condvar, true);
    if encoder.condvars.whole.insert(condvar) {
        state_whole(encoder, condvar);
    }
}

/// A `notify_one` chooses nobody who has been notified.
fn state_choice_is_new(
    encoder: &mut Encoder<'_>,
    stay: &Stay,
    notify_one: &[EventId],
    notify_all: &[EventId],
) {
    for one in notify_one {
        let chosen = chosen(encoder, *one, stay);
        if notified_before(encoder, stay) {
            encoder.formula.clause(&[!chosen]);
        }
        for all in notify_all {
            let happens = encoder.included(*all);
            let (earlier, later) = (encoder.before(*all, stay.wait), encoder.before(*one, *all));
            encoder.formula.clause(&[!chosen, !happens, earlier, later]);
        }
    }
}

/// If a thread waits that has not been notified, a `notify_one` chooses a waiter.
fn state_obligation(
    encoder: &mut Encoder<'_>,
    stay: &Stay,
    notify: EventId,
    stays: &[Stay],
    notify_one: &[EventId],
    notify_all: &[EventId],
) {
    if encoder.trace.thread(notify) == encoder.trace.thread(stay.wait)
        || notified_before(encoder, stay)
    {
        return;
    }
    let mut clause = vec![
        !encoder.included(notify),
        !encoder.included(stay.wait),
        encoder.before(notify, stay.wait),
    ];
    if let Some(end) = end(encoder, stay) {
        let conditions = [encoder.included(end), encoder.before(end, notify)];
        clause.push(encoder.all(&conditions));
    }
    for other in notify_all {
        let conditions = [
            encoder.included(*other),
            encoder.before(stay.wait, *other),
            encoder.before(*other, notify),
        ];
        clause.push(encoder.all(&conditions));
    }
    for other in notify_one.iter().filter(|other| **other != notify) {
        let conditions = [chosen(encoder, *other, stay), encoder.before(*other, notify)];
        clause.push(encoder.all(&conditions));
    }
    for waiter in stays {
        clause.push(chosen(encoder, notify, waiter));
    }
    encoder.formula.clause(&clause);
}
