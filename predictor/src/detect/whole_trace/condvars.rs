//! Condvars, as section 4 of Said et al. has them: who wakes up has been notified since it began to
//! wait, by a `notify_all` or by a `notify_one` that chose it; a `notify_one` chooses one waiter,
//! any of them, if there is one who has not been notified. Besides: who times out has not been.
//!
//! That a `notify_one` must choose a waiter matters only where a wait times out: else a
//! notification too many does no harm.

use super::WholeTrace;
use crate::index::{Condvar, Stay};
use crate::solve::formula::Lit;
use crate::trace::EventId;

/// That a `notify_one` chooses a waiter, for each of both.
struct Choices {
    /// One row for each `notify_one`, one entry in it for each stay.
    chosen: Vec<Vec<Lit>>,
}

pub(super) fn state(whole: &mut WholeTrace<'_>, condvar: &Condvar) {
    if condvar.stays.is_empty() {
        return;
    }
    let choices = state_choices(whole, condvar);
    for (number, stay) in condvar.stays.iter().enumerate() {
        if let (Some(wake), false) = (stay.end, stay.times_out) {
            state_wake(whole, condvar, &choices, number, wake);
        }
    }
    if condvar.stays.iter().any(|stay| stay.times_out) {
        state_timeouts(whole, condvar, &choices);
    }
}

/// A choice falls into the stay; each `notify_one` chooses once, each waiter is chosen once.
fn state_choices(whole: &mut WholeTrace<'_>, condvar: &Condvar) -> Choices {
    let mut chosen = Vec::new();
    for notify in &condvar.notify_one {
        let row: Vec<Lit> = condvar.stays.iter().map(|stay| during(whole, stay, *notify)).collect();
        state_at_most_one(whole, &row);
        chosen.push(row);
    }
    for stay in 0..condvar.stays.len() {
        let column: Vec<Lit> = chosen.iter().map(|row: &Vec<Lit>| row[stay]).collect();
        state_at_most_one(whole, &column);
    }
    Choices { chosen }
}

/// A new proposition that implies that an event comes during a stay.
fn during(whole: &mut WholeTrace<'_>, stay: &Stay, event: EventId) -> Lit {
    let mut conditions = vec![whole.before(stay.wait, event)];
    if let Some(end) = stay.end {
        conditions.push(whole.before(event, end));
    }
    whole.all(&conditions)
}

fn state_at_most_one(whole: &mut WholeTrace<'_>, lits: &[Lit]) {
    for (at, one) in lits.iter().enumerate() {
        for other in &lits[at + 1..] {
            whole.formula.clause(&[!*one, !*other]);
        }
    }
}

fn state_wake(
    whole: &mut WholeTrace<'_>,
    condvar: &Condvar,
    choices: &Choices,
    number: usize,
    wake: EventId,
) {
    let stay = condvar.stays[number];
    let mut reasons: Vec<Lit> = choices.chosen.iter().map(|row| row[number]).collect();
    for notify in &condvar.notify_all {
        let conditions = [whole.before(stay.wait, *notify), whole.before(*notify, wake)];
        reasons.push(whole.all(&conditions));
    }
    whole.formula.clause(&reasons);
}

fn state_timeouts(whole: &mut WholeTrace<'_>, condvar: &Condvar, choices: &Choices) {
    for (number, stay) in condvar.stays.iter().enumerate() {
        if let (Some(timeout), true) = (stay.end, stay.times_out) {
            for notify in &condvar.notify_all {
                let apart = [whole.before(*notify, stay.wait), whole.before(timeout, *notify)];
                whole.formula.clause(&apart);
            }
            for row in &choices.chosen {
                whole.formula.clause(&[!row[number]]);
            }
        }
        for (row, notify) in choices.chosen.iter().zip(&condvar.notify_one) {
            // It chooses nobody who has been notified.
            for all in &condvar.notify_all {
                let (earlier, later) = (whole.before(*all, stay.wait), whole.before(*notify, *all));
                whole.formula.clause(&[!row[number], earlier, later]);
            }
        }
        for notify in 0..choices.chosen.len() {
            state_obligation(whole, condvar, choices, number, notify);
        }
    }
}

/// If a thread waits that has not been notified, a `notify_one` chooses a waiter.
fn state_obligation(
    whole: &mut WholeTrace<'_>,
    condvar: &Condvar,
    choices: &Choices,
    number: usize,
    notify: usize,
) {
    let stay = condvar.stays[number];
    let event = condvar.notify_one[notify];
    if whole.trace.thread(event) == whole.trace.thread(stay.wait) {
        return;
    }
    let mut clause = vec![whole.before(event, stay.wait)];
    if let Some(end) = stay.end {
        clause.push(whole.before(end, event));
    }
    for all in &condvar.notify_all {
        let conditions = [whole.before(stay.wait, *all), whole.before(*all, event)];
        clause.push(whole.all(&conditions));
    }
    for (row, other) in choices.chosen.iter().zip(&condvar.notify_one) {
        if *other != event {
            let conditions = [row[number], whole.before(*other, event)];
            clause.push(whole.all(&conditions));
        }
    }
    clause.extend(&choices.chosen[notify]);
    whole.formula.clause(&clause);
}
