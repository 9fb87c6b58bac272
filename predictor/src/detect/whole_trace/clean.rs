//! Reads: a thread is clean after an event if all that it has read up to there is what it read in
//! the trace, from writers that were clean: Φ_cf of the PLDI 2014 paper, β of Said et al.
//!
//! A value that was there at the start counts as written before everything. A message's content is
//! what it was if its sender was clean.

use racelog::trace::VarId;
use rustc_hash::FxHashMap;

use super::{Stated, WholeTrace};
use crate::solve::Model;
use crate::solve::formula::Lit;
use crate::trace::{EventId, Op, ValueId};

/// Where a read may get its value from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    /// The write; none for what the variable holds at the start.
    write: Option<EventId>,
    /// That it is this one.
    chosen: Lit,
}

impl WholeTrace<'_> {
    /// That a thread is clean when an event's turn comes.
    pub(in crate::detect) fn clean_before(&mut self, event: EventId) -> Lit {
        match self.index.input_before(event) {
            Some(input) => self.clean_after(input),
            None => Lit::TRUE,
        }
    }

    /// That a thread is clean after an event that reads or receives.
    pub(in crate::detect) fn clean_after(&mut self, event: EventId) -> Lit {
        if let Some(lit) = self.clean.get(&event) {
            return *lit;
        }
        let lit = self.formula.proposition(false);
        self.clean.insert(event, lit);
        self.tasks.push(event);
        lit
    }
}

/// States what it takes to be clean, wherever that has been spoken of.
pub(super) fn state_all(whole: &mut WholeTrace<'_>) {
    while let Some(event) = whole.tasks.pop() {
        state(whole, event);
    }
}

fn state(whole: &mut WholeTrace<'_>, event: EventId) {
    let clean = whole.clean_after(event);
    let before = whole.clean_before(event);
    whole.formula.implies(&[clean], &[before]);
    let op = whole.trace.op(event);
    if let Op::Recv { channel, .. } = op {
        let number = whole.index.message_at[&event] as usize;
        let send = whole.index.channels[channel.index()].messages[number].send;
        let known = whole.clean_before(send);
        whole.formula.implies(&[clean], &[known]);
    }
    // In mixed memory all accesses keep their order, and so their values.
    let plain = |var: &VarId| !whole.trace.is_mixed(*var);
    if let (Some(var), Some(value)) = (op.var().filter(plain), op.found().copied()) {
        let sources = sources(whole, event, var, value);
        let mut clause = vec![!clean];
        clause.extend(sources.iter().map(|source| source.chosen));
        whole.formula.clause(&clause);
        whole.sources.insert(event, sources);
    }
}

fn sources(whole: &mut WholeTrace<'_>, read: EventId, var: VarId, value: ValueId) -> Vec<Source> {
    let mut sources = Vec::new();
    if whole.trace.initial_value(var) == value {
        sources.push(Source { write: None, chosen: whole.formula.proposition(false) });
    }
    let index = whole.index;
    for write in index.writes_of(var, value) {
        let earlier = match *write == read {
            true => Lit::FALSE,
            false => whole.before(*write, read),
        };
        if earlier == Lit::FALSE {
            continue;
        }
        let known = match whole.trace.op(*write).reads() {
            true => whole.clean_after(*write),
            false => whole.clean_before(*write),
        };
        let chosen = whole.all(&[earlier, known]);
        sources.push(Source { write: Some(*write), chosen });
    }
    sources
}

/// States that no other write comes between a read and its source, where a sequence has one there.
pub(super) fn refine(whole: &mut WholeTrace<'_>, model: &Model, sequence: &[EventId]) {
    let mut writes: FxHashMap<VarId, Vec<EventId>> = FxHashMap::default();
    for event in sequence {
        let op = whole.trace.op(*event);
        let Some(var) = op.var() else { continue };
        let earlier = writes.entry(var).or_default();
        if whole.clean.get(event).is_some_and(|clean| model.is_true(*clean)) {
            let Some(mut chosen) = whole.sources.get(event).cloned() else { continue };
            chosen.retain(|source| model.is_true(source.chosen));
            if chosen.iter().all(|source| source.write != earlier.last().copied()) {
                for source in chosen {
                    for between in after(earlier, source.write) {
                        state_undisturbed(whole, source, *event, *between);
                    }
                }
            }
        }
        if op.writes() {
            earlier.push(*event);
        }
    }
}

/// The writes after one of them, or all.
fn after(writes: &[EventId], write: Option<EventId>) -> &[EventId] {
    let place = writes.iter().rposition(|other| Some(*other) == write);
    &writes[place.map_or(0, |place| place + 1)..]
}

fn state_undisturbed(whole: &mut WholeTrace<'_>, source: Source, read: EventId, between: EventId) {
    let write = source.write;
    if whole.stated.insert(Stated::Interference { write, read, between }) {
        let earlier = write.map_or(Lit::FALSE, |write| whole.before(between, write));
        let later = whole.before(read, between);
        whole.formula.clause(&[!source.chosen, earlier, later]);
    }
}
