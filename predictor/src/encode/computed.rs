//! Values that are computed: what expressions give with what their reads find.
//!
//! A model of the formula has chosen a source for each read that matters, so values can be computed
//! along it. What comes out wrong, a branch that would not be passed, a check that would not fail, a
//! read that is not what it was, becomes a clause: the sources that went into it are not chosen all
//! together. A read whose value is computed with has all writes of its variable as sources, not only
//! those of the value that it had.

use racelog::trace::Value;
use racelog::trace::expression::is_true;

use super::query::LastRead;
use super::sources::{Mode, Sources, wrote_known};
use super::{Encoder, Task, channels};
use crate::solve::Model;
use crate::solve::formula::{Claim, Lit, Term};
use crate::trace::{EventId, Expression, Op};

/// What has been said of computed values.
#[derive(Debug, Default)]
pub(super) struct Computed {
    /// That what a write, a send, a branch or a check is computed from is known.
    pub(super) known: rustc_hash::FxHashMap<EventId, Lit>,
    /// That what a read finds is known.
    pub(super) found: rustc_hash::FxHashMap<EventId, Lit>,
    pub(super) sources: rustc_hash::FxHashMap<EventId, Sources>,
    /// That what a write leaves, or a message says, is known.
    left: rustc_hash::FxHashMap<EventId, Lit>,
    /// That a thread passes a branch or a check, or makes a compare-exchange, by what is computed.
    pub(super) passes: rustc_hash::FxHashMap<EventId, Lit>,
    /// That a check which is next fails.
    fails: Vec<(EventId, Lit)>,
}

/// Whether writes of a variable may leave values that are computed.
pub(super) fn is_computed(encoder: &Encoder<'_>, write: EventId) -> bool {
    encoder.model.has_expressions()
        && encoder.trace.data(write).is_some_and(|data| data.is.is_some())
}

/// The expression of an event: of a compare-exchange, what it expects.
fn expression<'a>(encoder: &Encoder<'a>, event: EventId, expects: bool) -> Option<&'a Expression> {
    let data = encoder.trace.data(event)?;
    if expects { data.expects.as_ref() } else { data.is.as_ref() }
}

/// That an event passes by what is computed; none if it has no condition that is computed.
pub(super) fn passes(encoder: &mut Encoder<'_>, event: EventId) -> Option<Lit> {
    let op = encoder.trace.op(event);
    let computes = match op {
        Op::Check { .. } => encoder.model.has_values(),
        _ => encoder.model.has_expressions(),
    };
    let expects = matches!(op, Op::Cas { .. } | Op::CasFail { .. });
    let mixed = op.var().is_some_and(|var| encoder.trace.is_mixed(var));
    if !computes || mixed || expression(encoder, event, expects).is_none() {
        return None;
    }
    if let Some(lit) = encoder.computed.passes.get(&event) {
        return Some(*lit);
    }
    let lit = encoder.formula.proposition(false);
    encoder.computed.passes.insert(event, lit);
    state_inputs(encoder, event, expects, lit);
    if expects {
        let found = found(encoder, event);
        encoder.formula.implies(&[lit], &[found]);
    }
    Some(lit)
}

/// That a check fails that is next.
pub(super) fn fails(encoder: &mut Encoder<'_>, check: EventId) -> Lit {
    if !encoder.model.has_values() || expression(encoder, check, false).is_none() {
        return Lit::FALSE;
    }
    let lit = encoder.formula.proposition(false);
    encoder.computed.fails.push((check, lit));
    state_inputs(encoder, check, false, lit);
    lit
}

/// That a compare-exchange that is next is known to expect something.
pub(super) fn exchanges(encoder: &mut Encoder<'_>, event: EventId) -> Lit {
    if !encoder.model.has_expressions() || expression(encoder, event, true).is_none() {
        return Lit::FALSE;
    }
    let lit = encoder.formula.proposition(false);
    state_inputs(encoder, event, true, lit);
    lit
}

/// If a condition holds, all that an expression is made of is known.
fn state_inputs(encoder: &mut Encoder<'_>, event: EventId, expects: bool, condition: Lit) {
    let trace = encoder.trace;
    let Some(expression) = expression(encoder, event, expects) else { return };
    for read in expression.reads() {
        let found = found(encoder, *read);
        encoder.formula.implies(&[condition], &[found]);
    }
    let since = trace.data(event).and_then(|data| data.since);
    if let Some(since) = since {
        let last = trace.events_of_thread(trace.thread(event))[since as usize];
        let clean = match trace.op(last).takes_input() {
            true => encoder.clean_after(last),
            false => encoder.clean_before(last),
        };
        encoder.formula.implies(&[condition], &[clean]);
    }
}

/// That what an event computes is known.
fn known(encoder: &mut Encoder<'_>, event: EventId) -> Lit {
    if !is_computed(encoder, event) {
        return Lit::FALSE;
    }
    if let Some(lit) = encoder.computed.known.get(&event) {
        return *lit;
    }
    let lit = encoder.formula.proposition(false);
    encoder.computed.known.insert(event, lit);
    encoder.tasks.push_back(Task::Known(event));
    lit
}

/// States what it takes for what an event computes to be known.
pub(super) fn state_known(encoder: &mut Encoder<'_>, event: EventId) {
    let lit = known(encoder, event);
    state_inputs(encoder, event, false, lit);
}

/// That what a read finds is known.
fn found(encoder: &mut Encoder<'_>, read: EventId) -> Lit {
    if read < encoder.window.start {
        return Lit::TRUE;
    }
    if let Some(lit) = encoder.computed.found.get(&read) {
        return *lit;
    }
    let lit = encoder.formula.proposition(false);
    encoder.computed.found.insert(read, lit);
    encoder.tasks.push_back(Task::Found(read));
    lit
}

/// States what it takes for what a read finds to be known.
pub(super) fn state_found(encoder: &mut Encoder<'_>, read: EventId) {
    let lit = found(encoder, read);
    let op = encoder.trace.op(read);
    if let Op::Recv { channel, .. } = op {
        let send = channels::sent(encoder, read, channel);
        let said = left_known(encoder, send);
        encoder.formula.implies(&[lit], &[said]);
        return;
    }
    let Some(var) = op.var() else { return };
    if encoder.trace.is_mixed(var) {
        // Only what it was is known of it.
        let clean = encoder.clean_after(read);
        encoder.formula.implies(&[lit], &[clean]);
        return;
    }
    let sources = Sources::state(encoder, read, var, Mode::Any, lit);
    encoder.computed.sources.insert(read, sources);
}

/// That what a write leaves, or a message says, is known.
pub(super) fn left_known(encoder: &mut Encoder<'_>, event: EventId) -> Lit {
    if event < encoder.window.start {
        return Lit::TRUE;
    }
    let clean = wrote_known(encoder, event);
    if !is_computed(encoder, event) || clean == Lit::TRUE {
        return clean;
    }
    if let Some(lit) = encoder.computed.left.get(&event) {
        return *lit;
    }
    let known = known(encoder, event);
    let lit = encoder.formula.proposition(false);
    encoder.computed.left.insert(event, lit);
    encoder.formula.clause(&[!lit, known, clean]);
    lit
}

/// What comes out wrong: the clause that says so, and what that rests on, if all of it is known.
struct Wrong {
    clause: Vec<Lit>,
    claim: Option<Claim>,
}

impl Wrong {
    fn state(self, encoder: &mut Encoder<'_>) {
        encoder.formula.clause(&self.clause);
        if let Some(claim) = self.claim {
            encoder.formula.claim(claim);
        }
    }
}

/// A value, and how it comes about, as far as that is known.
type Come = (Option<Value>, Option<Term>);

fn known_as(value: Option<Value>) -> Come {
    (value, value.map(Term::Known))
}

/// Values along a model, and what they rest on.
struct Along<'m> {
    model: &'m Model,
    /// Literals that hold in the model, and from which the value follows.
    because: Vec<Lit>,
    /// Reads of which it is open what their source is.
    open: Vec<EventId>,
    /// What reads were found to find; none if something is not known.
    reads: Option<Vec<(EventId, Term)>>,
}

impl<'m> Along<'m> {
    fn new(model: &'m Model, because: Vec<Lit>) -> Self {
        Self { model, because, open: Vec::new(), reads: Some(Vec::new()) }
    }

    /// Notes what a read finds.
    fn note(&mut self, read: EventId, found: Option<Term>) {
        match (&mut self.reads, found) {
            (Some(reads), Some(_)) if reads.iter().any(|(known, _)| *known == read) => {}
            (Some(reads), Some(found)) => reads.push((read, found)),
            _ => self.reads = None,
        }
    }

    /// What follows from what was found.
    fn wrong(self, left: Term, right: Term, same: bool) -> Wrong {
        let clause = self.because.iter().map(|lit| !*lit).collect();
        let claim = self.reads.map(|reads| Claim { reads, left, right, same });
        Wrong { clause, claim }
    }

    fn holds(&mut self, lit: Option<Lit>) -> bool {
        let Some(lit) = lit.filter(|lit| *lit == Lit::TRUE || self.model.is_true(*lit)) else {
            return false;
        };
        if lit != Lit::TRUE {
            self.because.push(lit);
        }
        true
    }

    /// What an expression gives.
    fn compute(&mut self, encoder: &Encoder<'_>, expression: &Expression) -> Option<Value> {
        let mut known = true;
        let mut values = Vec::new();
        for read in expression.reads() {
            let value = self.found(encoder, *read);
            known &= value.is_some();
            values.push((*read, value));
        }
        if !known {
            return None;
        }
        expression.compute(|read| values.iter().find(|(other, _)| *other == read)?.1)
    }

    /// What a read finds.
    fn found(&mut self, encoder: &Encoder<'_>, read: EventId) -> Option<Value> {
        let (value, come) = self.look(encoder, read);
        self.note(read, come);
        value
    }

    fn look(&mut self, encoder: &Encoder<'_>, read: EventId) -> Come {
        let trace = encoder.trace;
        let observed = || {
            let op = trace.op(read);
            let id = trace.data(read).and_then(|data| data.found).or(op.found().copied())?;
            Some(trace.values().get(id))
        };
        if read < encoder.window.start {
            return known_as(observed());
        }
        match trace.op(read) {
            Op::Recv { channel, .. } => {
                let send = channels::sent(encoder, read, channel);
                self.left(encoder, send)
            }
            op => {
                let Some(var) = op.var() else { return (None, None) };
                if trace.is_mixed(var) {
                    let clean = encoder.clean.get(&read).copied();
                    return known_as(self.holds(clean).then(observed).flatten());
                }
                let Some(sources) = encoder.computed.sources.get(&read) else {
                    return (None, None);
                };
                let chosen = sources.chosen(self.model);
                let Some(source) = chosen.first() else {
                    self.open.push(read);
                    return (None, None);
                };
                self.because.push(source.chosen);
                match source.write {
                    Some(write) => self.left(encoder, write),
                    None => {
                        let held = encoder.window.state.value(var);
                        known_as(held.map(|id| trace.values().get(id)))
                    }
                }
            }
        }
    }

    /// What a write leaves, or a message says.
    fn left(&mut self, encoder: &Encoder<'_>, event: EventId) -> Come {
        let trace = encoder.trace;
        let op = trace.op(event);
        let clean = super::sources::wrote_known_lit(encoder, event);
        if event < encoder.window.start || self.holds(clean) {
            return known_as(match op.left() {
                Some(left) => Some(trace.values().get(*left)),
                // What a message says is computed from what was observed.
                None => expression(encoder, event, false).and_then(|said| {
                    said.compute(|read| Some(trace.values().get(trace.data(read)?.found?)))
                }),
            });
        }
        let known = encoder.computed.known.get(&event).copied();
        if !self.holds(known) {
            return (None, None);
        }
        let Some(said) = expression(encoder, event, false) else { return (None, None) };
        (self.compute(encoder, said), Some(Term::Computed(said.clone())))
    }
}

/// Computes values along a model, and states what comes out wrong.
pub(super) fn refine(encoder: &mut Encoder<'_>, model: &Model, sequence: &[EventId]) {
    if !encoder.trace.has_data() {
        return;
    }
    let mut wrong: Vec<Wrong> = Vec::new();
    let mut open: Vec<EventId> = Vec::new();
    {
        let encoder = &*encoder;
        let mut look = |event: EventId, lit: Lit, wanted: bool| {
            let Some(expression) = expression(encoder, event, false) else { return };
            let mut along = Along::new(model, vec![lit]);
            let computed = along.compute(encoder, expression);
            let right = computed.is_some_and(|value| is_true(value) == wanted);
            if !along.open.is_empty() {
                open.append(&mut along.open);
            } else if !right {
                let (condition, zero) =
                    (Term::Computed(expression.clone()), Term::Known(Value::Nat(0)));
                wrong.push(along.wrong(condition, zero, !wanted));
            }
        };
        for (event, lit) in &encoder.computed.passes {
            if !model.is_true(*lit) {
                continue;
            }
            let op = encoder.trace.op(*event);
            if matches!(op, Op::Branch | Op::Check { .. }) {
                look(*event, *lit, true);
            }
        }
        for (event, lit) in &encoder.computed.fails {
            if model.is_true(*lit) {
                look(*event, *lit, false);
            }
        }
    }
    exchanged(encoder, model, &mut wrong, &mut open);
    found_as_observed(encoder, model, &mut wrong, &mut open);
    for wrong in wrong {
        wrong.state(encoder);
    }
    state_open(encoder, model, sequence, open);
}

/// States more of the sources of reads of which a model leaves it open what theirs is.
fn state_open(
    encoder: &mut Encoder<'_>,
    model: &Model,
    sequence: &[EventId],
    mut open: Vec<EventId>,
) {
    open.sort_unstable();
    open.dedup();
    for read in open {
        let last = last_write_before(encoder, sequence, read);
        for clean in [false, true] {
            let map = if clean { &mut encoder.sources } else { &mut encoder.computed.sources };
            if let Some(mut sources) = map.remove(&read) {
                sources.state_more(encoder, model, last);
                let map = if clean { &mut encoder.sources } else { &mut encoder.computed.sources };
                map.insert(read, sources);
            }
        }
    }
}

/// The last write of a read's variable before it in a sequence.
fn last_write_before(
    encoder: &Encoder<'_>,
    sequence: &[EventId],
    read: EventId,
) -> Option<EventId> {
    let trace = encoder.trace;
    let var = trace.op(read).var();
    let end = sequence.iter().position(|event| *event == read).unwrap_or(sequence.len());
    let writes = |event: &&EventId| {
        let op = trace.op(**event);
        op.var() == var && op.writes()
    };
    sequence[..end].iter().rev().find(writes).copied()
}

/// Compare-exchanges that go by what is computed find it, or do not.
fn exchanged(
    encoder: &Encoder<'_>,
    model: &Model,
    wrong: &mut Vec<Wrong>,
    open: &mut Vec<EventId>,
) {
    let trace = encoder.trace;
    for (event, lit) in encoder.computed.passes.iter().map(|(event, lit)| (*event, *lit)) {
        let op = trace.op(event);
        let same = match op {
            Op::Cas { .. } => true,
            Op::CasFail { .. } => false,
            _ => continue,
        };
        if !model.is_true(lit) {
            continue;
        }
        let Some(expects) = expression(encoder, event, true) else { continue };
        let mut along = Along::new(model, vec![lit]);
        let found = along.found(encoder, event);
        let expected = along.compute(encoder, expects);
        let right = found.zip(expected).is_some_and(|(found, value)| (found == value) == same);
        if !along.open.is_empty() {
            open.append(&mut along.open);
        } else if !right {
            wrong.push(along.wrong(Term::Found(event), Term::Computed(expects.clone()), same));
        }
    }
}

/// Reads that find what they found by what is computed.
fn found_as_observed(
    encoder: &Encoder<'_>,
    model: &Model,
    wrong: &mut Vec<Wrong>,
    open: &mut Vec<EventId>,
) {
    let trace = encoder.trace;
    for (read, sources) in &encoder.sources {
        let clean = encoder.clean.get(read).copied();
        if !sources.is_by_value() && clean.is_some_and(|clean| model.is_true(clean)) {
            let chosen = sources.chosen(model);
            let Some(source) = chosen.first() else {
                open.push(*read);
                continue;
            };
            let Some(write) = source.write else { continue };
            let mut along = Along::new(model, vec![source.chosen]);
            let (value, come) = along.left(encoder, write);
            let observed = trace.op(*read).found().map(|id| trace.values().get(*id));
            if !along.open.is_empty() {
                open.append(&mut along.open);
            } else if value.is_none() || value != observed {
                along.note(*read, come);
                let observed = Term::Known(observed.unwrap_or(Value::Opaque));
                wrong.push(along.wrong(Term::Found(*read), observed, true));
            }
        }
    }
}

/// A compare-exchange that is next finds, in a source that is its last write, what it is to find:
/// otherwise that is stated.
pub(super) fn refine_next(
    encoder: &mut Encoder<'_>,
    model: &Model,
    read: &LastRead,
    sequence: &[EventId],
) {
    let trace = encoder.trace;
    if read.sources.is_by_value() {
        return;
    }
    let Some(source) = read.sources.chosen(model).first().copied() else { return };
    let mut along = Along::new(model, vec![read.asked, source.chosen]);
    let op = trace.op(read.event);
    let (found, come) = match (source.write, op.var()) {
        (Some(write), _) => along.left(encoder, write),
        (None, Some(var)) => {
            let held = encoder.window.state.value(var);
            known_as(held.map(|id| trace.values().get(id)))
        }
        (None, None) => (None, None),
    };
    along.note(read.event, come);
    let same = !read.computed || matches!(op, Op::Cas { .. });
    let expects = expression(encoder, read.event, true).filter(|_| read.computed);
    let observed = || op.found().map(|id| trace.values().get(*id));
    let (wanted, side) = match (read.computed, expects) {
        (true, Some(expects)) => (along.compute(encoder, expects), Term::Computed(expects.clone())),
        (true, None) => (None, Term::Known(Value::Opaque)),
        (false, _) => (observed(), Term::Known(observed().unwrap_or(Value::Opaque))),
    };
    if !along.open.is_empty() {
        state_open(encoder, model, sequence, along.open);
    } else if found.zip(wanted).is_none_or(|(found, wanted)| (found == wanted) != same) {
        along.wrong(Term::Found(read.event), side, same).state(encoder);
    }
}
