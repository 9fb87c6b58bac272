//! Values: a thread is clean as long as every read finds the value that it found in the observed
//! trace, in a variable that a clean thread wrote last.

use racelog::trace::VarId;
use rustc_hash::FxHashMap;

use super::sources::{Source, Sources, mode_of, wrote_known};
use super::{Encoder, Stated, channels};
use crate::solve::Model;
use crate::solve::formula::Lit;
use crate::trace::{EventId, Op};

/// A thread is clean after an event if it was before and the event found what it had found.
pub(super) fn state_clean(encoder: &mut Encoder<'_>, event: EventId) {
    let clean = encoder.clean_after(event);
    let before = encoder.clean_before(event);
    encoder.formula.implies(&[clean], &[before]);
    let op = encoder.trace.op(event);
    if let Op::Recv { channel, .. } = op {
        let send = channels::sent(encoder, event, channel);
        let known = encoder.clean_before(send);
        encoder.formula.implies(&[clean], &[known]);
    }
    if let (Some(var), Some(value)) = (op.var(), op.found().copied()) {
        if encoder.trace.is_mixed(var) {
            let known = known_before(encoder, var, event);
            encoder.formula.implies(&[clean], &known);
            return;
        }
        let mode = mode_of(encoder, var, value);
        let sources = Sources::state(encoder, event, var, mode, clean);
        encoder.sources.insert(event, sources);
    }
}

/// That all that was written to mixed memory before an access is known. Its accesses keep their
/// order, so that is all there is to say of values.
pub(super) fn known_before(encoder: &mut Encoder<'_>, var: VarId, access: EventId) -> Vec<Lit> {
    let trace = encoder.trace;
    let accesses = trace.events_of_var(var);
    let first = accesses.partition_point(|other| *other < encoder.window.start);
    let last = accesses.partition_point(|other| *other < access);
    let writes = accesses[first..last].iter().filter(|other| trace.op(**other).writes());
    writes.map(|write| wrote_known(encoder, *write)).collect()
}

/// How many writes on either side of those that disturb a read are ruled out along with them: they
/// would be the next to do so.
const NEIGHBOURS: usize = 4;

/// States that no other write comes between a read and its source, where a sequence has one there;
/// and more sources, where a sequence leaves it open which it is.
pub(super) fn refine(encoder: &mut Encoder<'_>, model: &Model, sequence: &[EventId]) {
    let trace = encoder.trace;
    let mut writes: FxHashMap<VarId, Vec<EventId>> = FxHashMap::default();
    for event in sequence {
        let op = trace.op(*event);
        if let (Some(var), true) = (op.var(), op.writes()) {
            writes.entry(var).or_default().push(*event);
        }
    }
    let mut short_of_sources: Vec<(EventId, Option<EventId>, bool)> = Vec::new();
    // How many writes of each variable have passed.
    let mut passed: FxHashMap<VarId, usize> = FxHashMap::default();
    for event in sequence {
        let op = trace.op(*event);
        let Some(var) = op.var() else { continue };
        let here = passed.entry(var).or_default();
        let all = writes.get(&var).map_or(&[][..], Vec::as_slice);
        let is_true = |lit: Option<&Lit>| lit.is_some_and(|lit| model.is_true(*lit));
        let clean = is_true(encoder.clean.get(event));
        let found = is_true(encoder.computed.found.get(event));
        let by_clean = encoder.sources.get(event).filter(|_| clean);
        let by_found = encoder.computed.sources.get(event).filter(|_| found);
        let mut disturbed: Vec<(Source, EventId)> = Vec::new();
        for (sources, computed) in by_clean
            .map(|sources| (sources, false))
            .into_iter()
            .chain(by_found.map(|sources| (sources, true)))
        {
            let last = all[..*here].last().copied();
            let chosen = sources.chosen(model);
            let found = chosen.iter().any(|source| source.write == last);
            if found || sources.is_right(encoder, model, last) {
                continue;
            }
            for source in chosen {
                let first = *here - after(&all[..*here], source.write).len();
                let near = first.saturating_sub(NEIGHBOURS)..(*here + NEIGHBOURS).min(all.len());
                for other in &all[near] {
                    if Some(*other) != source.write && other != event {
                        disturbed.push((source, *other));
                    }
                }
            }
            short_of_sources.push((*event, last, computed));
        }
        for (source, other) in disturbed {
            state_undisturbed(encoder, source, *event, other);
        }
        *here += usize::from(op.writes());
    }
    for (read, last, computed) in short_of_sources {
        let map = |encoder: &mut Encoder<'_>| match computed {
            true => encoder.computed.sources.remove(&read),
            false => encoder.sources.remove(&read),
        };
        if let Some(mut sources) = map(encoder) {
            sources.state_more(encoder, model, last);
            match computed {
                true => encoder.computed.sources.insert(read, sources),
                false => encoder.sources.insert(read, sources),
            };
        }
    }
}

/// The writes after one of them, or all.
pub(super) fn after(writes: &[EventId], write: Option<EventId>) -> &[EventId] {
    let Some(write) = write else { return writes };
    let place = writes.iter().rposition(|other| *other == write);
    &writes[place.map_or(0, |place| place + 1)..]
}

fn state_undisturbed(encoder: &mut Encoder<'_>, source: Source, read: EventId, between: EventId) {
    if !encoder.stated.insert(Stated::Interference { source: source.chosen, read, between }) {
        return;
    }
    let earlier = source.write.map_or(Lit::FALSE, |write| encoder.before(between, write));
    let (happens, later) = (encoder.included(between), encoder.before(read, between));
    encoder.formula.clause(&[!source.chosen, !happens, earlier, later]);
}
