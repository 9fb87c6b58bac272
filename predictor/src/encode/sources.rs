//! Where a read may get its value from.
//!
//! A value may be written again and again, and a read find any of these writes in some execution.
//! Most reads find a near one, so that those are stated first, and with them that it may be
//! *another*; what others there are is stated when a solution needs one.

use std::rc::Rc;

use racelog::trace::VarId;

use super::{Encoder, computed};
use crate::solve::Model;
use crate::solve::formula::Lit;
use crate::trace::{EventId, ValueId};

/// How many writes before a read are stated at first, and how many after it.
const FIRST: (usize, usize) = (4, 1);

/// Where a read may get its value from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    /// The write; none for what the variable holds when the window starts.
    pub(super) write: Option<EventId>,
    /// That it is this one.
    pub(super) chosen: Lit,
}

/// What a read is to find.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// This value, which nobody but who has written it writes.
    Value(ValueId),
    /// This value, which may also be computed by who has written another.
    Computed(ValueId),
    /// Any value that is known.
    Any,
}

/// What has been stated of where a read may get its value from.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    read: EventId,
    var: VarId,
    mode: Mode,
    /// The writes that the read can find, if they are not those of one value.
    writes: Option<Rc<[EventId]>>,
    stated: Vec<Source>,
    /// That it is one that has not been stated; none if all have been.
    another: Option<Lit>,
    /// Of the writes of the value, those before this place and those from the other on are left.
    left: (usize, usize),
    /// Whether what the variable holds at the start is left.
    initial_left: bool,
    /// How many are stated the next time, before and after.
    batch: (usize, usize),
    /// Those of `stated` that were not in turn.
    out_of_turn: Vec<EventId>,
}

impl Sources {
    /// The sources of a read, the nearest of which are stated. One of them is chosen if `needed`.
    pub(super) fn state(
        encoder: &mut Encoder<'_>,
        read: EventId,
        var: VarId,
        mode: Mode,
        needed: Lit,
    ) -> Self {
        let all = writes(encoder, var, mode);
        let index = encoder.index;
        let known = all.as_deref().unwrap_or_else(|| index.writes_of(var, mode.value()));
        let place = known.partition_point(|write| *write < read);
        let mut sources = Self {
            read,
            var,
            mode,
            stated: Vec::new(),
            another: None,
            left: (place, place),
            initial_left: starts_as(encoder, var, mode),
            writes: all,
            batch: FIRST,
            out_of_turn: Vec::new(),
        };
        sources.extend(encoder, needed, None);
        sources
    }

    /// Those that a model has chosen.
    pub(super) fn chosen(&self, model: &Model) -> Vec<Source> {
        self.stated.iter().filter(|source| model.is_true(source.chosen)).copied().collect()
    }

    /// Whether the model leaves it open who the source is, and this write, or what the variable
    /// held at the start, will do.
    pub(super) fn is_right(
        &self,
        encoder: &Encoder<'_>,
        model: &Model,
        write: Option<EventId>,
    ) -> bool {
        let open = self.another.is_some_and(|another| model.is_true(another));
        open && match write {
            None => starts_as(encoder, self.var, self.mode),
            // What is computed is looked at once its source is said.
            Some(_) if !self.is_by_value() => false,
            Some(write) => self.has(encoder, write) && wrote_known_in(encoder, model, write),
        }
    }

    /// Whether it is the value alone that tells which writes these are.
    pub(super) fn is_by_value(&self) -> bool {
        self.writes.is_none()
    }

    fn has(&self, encoder: &Encoder<'_>, write: EventId) -> bool {
        let writes = match &self.writes {
            Some(writes) => writes,
            None => encoder.index.writes_of(self.var, self.mode.value()),
        };
        writes.binary_search(&write).is_ok()
    }

    /// States more of them, if a model has it that it is another; `wanted` among them, if it is
    /// one.
    pub(super) fn state_more(
        &mut self,
        encoder: &mut Encoder<'_>,
        model: &Model,
        wanted: Option<EventId>,
    ) {
        if let Some(another) = self.another.take_if(|another| model.is_true(*another)) {
            self.extend(encoder, another, wanted);
        }
    }

    /// States the next of them: one is chosen if `needed`, or it is yet another.
    fn extend(&mut self, encoder: &mut Encoder<'_>, needed: Lit, wanted: Option<EventId>) {
        let index = encoder.index;
        let own = self.writes.clone();
        let writes = own.as_deref().unwrap_or_else(|| index.writes_of(self.var, self.mode.value()));
        let mut next: Vec<Option<EventId>> = Vec::new();
        let (mut before, mut after) = self.batch;
        while self.left.1 < writes.len() && after > 0 {
            let write = writes[self.left.1];
            self.left.1 += 1;
            if self.is_left(encoder, write) {
                next.push(Some(write));
                after -= 1;
            }
        }
        next.reverse();
        let later = next.len();
        while self.left.0 > 0 && before > 0 {
            self.left.0 -= 1;
            let write = writes[self.left.0];
            if self.is_left(encoder, write) {
                next.push(Some(write));
                before -= 1;
            }
            if write < encoder.window.start {
                self.left.0 = 0;
            }
        }
        if self.left.0 == 0 && std::mem::take(&mut self.initial_left) {
            next.push(None);
        }
        // What comes last is likely: the nearest before.
        next[later..].reverse();
        let wanted = wanted.filter(|write| {
            self.has(encoder, *write)
                && self.is_left(encoder, *write)
                && !next.contains(&Some(*write))
                && !self.stated.iter().any(|source| source.write == Some(*write))
        });
        if let Some(wanted) = wanted {
            self.out_of_turn.push(wanted);
            next.push(Some(wanted));
        }
        self.batch = (self.batch.0 * 2, self.batch.1 * 2);
        let mut clause = vec![!needed];
        if self.left.0 > 0 || self.left.1 < writes.len() {
            let another = encoder.formula.unsaid();
            self.another = Some(another);
            clause.push(another);
        }
        for write in next {
            let source = self.state_one(encoder, write);
            clause.push(source.chosen);
            self.stated.push(source);
        }
        encoder.formula.clause(&clause);
    }

    /// Whether the read can find a write at all, and it has not been stated out of turn.
    fn is_left(&self, encoder: &Encoder<'_>, write: EventId) -> bool {
        let own = encoder.trace.thread(write) == encoder.trace.thread(self.read);
        encoder.window.contains(write)
            && !(own && write >= self.read)
            && !self.out_of_turn.contains(&write)
    }

    /// A source, if it is chosen, happens in a clean thread.
    fn state_one(&self, encoder: &mut Encoder<'_>, write: Option<EventId>) -> Source {
        let Some(write) = write else {
            return Source { write, chosen: encoder.formula.proposition(false) };
        };
        let chosen = encoder.formula.source(write, self.read);
        let known = match self.is_by_value() {
            true => wrote_known(encoder, write),
            false => computed::left_known(encoder, write),
        };
        let conditions = [encoder.included(write), known];
        encoder.formula.implies(&[chosen], &conditions);
        let earlier = encoder.before(write, self.read);
        encoder.formula.implies(&[chosen], &[earlier]);
        Source { write: Some(write), chosen }
    }
}

impl Mode {
    /// The value that the read is to find; any if it is none in particular.
    fn value(self) -> ValueId {
        match self {
            Self::Value(value) | Self::Computed(value) => value,
            Self::Any => ValueId::NONE,
        }
    }
}

/// How a read finds a value: what writes of its variable compute may be that, too.
pub(super) fn mode_of(encoder: &Encoder<'_>, var: VarId, value: ValueId) -> Mode {
    let events = match encoder.trace.has_data() {
        true => encoder.trace.events_of_var(var),
        false => &[],
    };
    match events.iter().any(|event| computed::is_computed(encoder, *event)) {
        true => Mode::Computed(value),
        false => Mode::Value(value),
    }
}

/// The writes that a read can find, if these are not those of one value.
fn writes(encoder: &Encoder<'_>, var: VarId, mode: Mode) -> Option<Rc<[EventId]>> {
    let trace = encoder.trace;
    let fits = |event: &&EventId| match (mode, trace.op(**event).left()) {
        (_, None) => false,
        (Mode::Any, Some(_)) => true,
        (Mode::Value(value) | Mode::Computed(value), Some(left)) => {
            *left == value || computed::is_computed(encoder, **event)
        }
    };
    match mode {
        Mode::Value(_) => None,
        _ => Some(trace.events_of_var(var).iter().filter(fits).copied().collect()),
    }
}

/// Whether a read can find what its variable holds at the start.
fn starts_as(encoder: &Encoder<'_>, var: VarId, mode: Mode) -> bool {
    let held = encoder.window.state.value(var);
    match mode {
        Mode::Value(value) | Mode::Computed(value) => held == Some(value),
        Mode::Any => held.is_some(),
    }
}

/// That a write leaves the value behind that it left in the observed trace.
pub(super) fn wrote_known(encoder: &mut Encoder<'_>, write: EventId) -> Lit {
    if encoder.trace.op(write).reads() {
        encoder.clean_after(write)
    } else {
        encoder.clean_before(write)
    }
}

/// The same, if it has been spoken of.
pub(super) fn wrote_known_lit(encoder: &Encoder<'_>, write: EventId) -> Option<Lit> {
    let input = match encoder.trace.op(write).reads() {
        true => Some(write),
        false => encoder.index.input_before(write),
    };
    match input {
        Some(input) if input >= encoder.window.start && encoder.model.has_values() => {
            encoder.clean.get(&input).copied()
        }
        _ => Some(Lit::TRUE),
    }
}

/// Whether in a model a write leaves the value behind that it left in the observed trace, as far as
/// that has been spoken of.
fn wrote_known_in(encoder: &Encoder<'_>, model: &Model, write: EventId) -> bool {
    let input = match encoder.trace.op(write).reads() {
        true => Some(write),
        false => encoder.index.input_before(write),
    };
    input.is_none_or(|input| {
        let clean = encoder.clean.get(&input);
        input < encoder.window.start || clean.is_some_and(|clean| model.is_true(*clean))
    })
}
