//! Values: a thread is clean as long as every read finds the value that it found in the observed
//! trace, in a variable that a clean thread wrote last.

use racelog::trace::VarId;
use rustc_hash::FxHashMap;

use super::index::value_read;
use super::{Encoder, Stated, channels};
use crate::solve::Model;
use crate::solve::formula::Lit;
use crate::trace::{EventId, Op, ValueId};

/// Where a read may get its value from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    /// The write; none for what the variable holds when the window starts.
    pub(super) write: Option<EventId>,
    /// That it is this one.
    pub(super) chosen: Lit,
}

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
    if let (Some(var), Some(value)) = (op.var(), value_read(&op)) {
        if encoder.trace.is_mixed(var) {
            let known = known_before(encoder, var, event);
            encoder.formula.implies(&[clean], &known);
            return;
        }
        let sources = sources(encoder, event, var, value);
        for source in &sources {
            if let Some(write) = source.write {
                let earlier = encoder.before(write, event);
                encoder.formula.implies(&[source.chosen], &[earlier]);
            }
        }
        let mut clause = vec![!clean];
        clause.extend(sources.iter().map(|source| source.chosen));
        encoder.formula.clause(&clause);
        encoder.sources.insert(event, sources);
    }
}

/// The writes of a value to a variable that a read could find; each, if chosen, happens in a clean
/// thread.
pub(super) fn sources(
    encoder: &mut Encoder<'_>,
    read: EventId,
    var: VarId,
    value: ValueId,
) -> Vec<Source> {
    let index = encoder.index;
    let thread = encoder.trace.thread(read);
    let writes = index.writes_of(var, value);
    let possible = |write: &EventId| {
        encoder.window.contains(*write) && (encoder.trace.thread(*write) != thread || *write < read)
    };
    let mut candidates: Vec<Option<EventId>> =
        writes.iter().copied().filter(possible).map(Some).collect();
    if encoder.window.state.value(var) == Some(value) {
        candidates.push(None);
    }
    // What is decided last is what is left when it comes to a choice: the write that was observed.
    candidates.sort_by_key(|write| match write {
        Some(write) if *write < read => (1, write.index() + 1),
        Some(write) => (0, usize::MAX - write.index()),
        None => (1, 0),
    });
    let mut sources = Vec::with_capacity(candidates.len());
    for write in candidates {
        let chosen = match write {
            Some(write) => encoder.formula.source(write, read),
            None => encoder.formula.proposition(false),
        };
        if let Some(write) = write {
            let conditions = [encoder.included(write), wrote_known(encoder, write)];
            encoder.formula.implies(&[chosen], &conditions);
        }
        sources.push(Source { write, chosen });
    }
    sources
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

/// That a write leaves the value behind that it left in the observed trace.
fn wrote_known(encoder: &mut Encoder<'_>, write: EventId) -> Lit {
    if encoder.trace.op(write).reads() {
        encoder.clean_after(write)
    } else {
        encoder.clean_before(write)
    }
}

/// How many writes on either side of those that disturb a read are ruled out along with them: they
/// would be the next to do so.
const NEIGHBOURS: usize = 4;

/// States that no other write comes between a read and its source, where a sequence has one there.
pub(super) fn refine(encoder: &mut Encoder<'_>, model: &Model, sequence: &[EventId]) {
    let trace = encoder.trace;
    let mut writes: FxHashMap<VarId, Vec<EventId>> = FxHashMap::default();
    for event in sequence {
        let op = trace.op(*event);
        if let (Some(var), true) = (op.var(), op.writes()) {
            writes.entry(var).or_default().push(*event);
        }
    }
    // How many writes of each variable have passed.
    let mut passed: FxHashMap<VarId, usize> = FxHashMap::default();
    for event in sequence {
        let op = trace.op(*event);
        let Some(var) = op.var() else { continue };
        let here = passed.entry(var).or_default();
        let clean = encoder.clean.get(event).is_some_and(|clean| model.is_true(*clean));
        if let Some(sources) = encoder.sources.get(event).filter(|_| clean) {
            let all = writes.get(&var).map_or(&[][..], Vec::as_slice);
            let last = all[..*here].last().copied();
            let chosen = sources.iter().filter(|source| model.is_true(source.chosen));
            let chosen: Vec<Source> = chosen.copied().collect();
            if !chosen.iter().any(|source| source.write == last) {
                for source in chosen {
                    let first = *here - after(&all[..*here], source.write).len();
                    let near =
                        first.saturating_sub(NEIGHBOURS)..(*here + NEIGHBOURS).min(all.len());
                    for other in &all[near] {
                        if Some(*other) != source.write && other != event {
                            state_undisturbed(encoder, source, *event, *other);
                        }
                    }
                }
            }
        }
        *here += usize::from(op.writes());
    }
}

/// The writes after one of them, or all.
pub(super) fn after(writes: &[EventId], write: Option<EventId>) -> &[EventId] {
    let Some(write) = write else { return writes };
    let place = writes.iter().rposition(|other| *other == write);
    &writes[place.map_or(0, |place| place + 1)..]
}

fn state_undisturbed(encoder: &mut Encoder<'_>, source: Source, read: EventId, between: EventId) {
    if !encoder.stated.insert(Stated::Interference { write: source.write, read, between }) {
        return;
    }
    let earlier = source.write.map_or(Lit::FALSE, |write| encoder.before(between, write));
    let (happens, later) = (encoder.included(between), encoder.before(read, between));
    encoder.formula.clause(&[!source.chosen, !happens, earlier, later]);
}
