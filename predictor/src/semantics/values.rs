//! What threads have found, and what follows from it: the values that are computed along an
//! execution.

use racelog::trace::expression::is_true;
use racelog::trace::{LockId, ThreadId, VarId};

use super::state::{Message, Other};
use super::{Machine, State, WhyNot};
use crate::trace::{EventId, Expression, Op, ValueId};

/// Whether a condition lets its thread go on.
pub(super) enum Condition {
    Holds,
    Fails,
    /// Nothing is known of it.
    Unknown,
}

impl Machine<'_> {
    /// What an expression of an event computes in a state, if that is known: all that it is made of
    /// is, and nothing that it relies on besides was found otherwise.
    pub(super) fn computed(
        &self,
        state: &State,
        event: EventId,
        expression: &Expression,
    ) -> Option<ValueId> {
        let trace = self.trace();
        let thread = &state.threads[trace.thread(event).index()];
        let since = trace.data(event).and_then(|data| data.since);
        if since.zip(thread.other).is_some_and(|(since, other)| other <= since) {
            return None;
        }
        let found = |read: EventId| {
            let id = match thread.others.iter().find(|other| other.read == read) {
                Some(other) => other.found?,
                None => trace.data(read)?.found?,
            };
            Some(trace.values().get(id))
        };
        expression.compute(found).map(|value| trace.values().computed(value))
    }

    /// What an event that is named has found in a state, if that is known.
    pub fn found(&self, state: &State, read: EventId) -> Option<ValueId> {
        let thread = &state.threads[self.trace().thread(read).index()];
        match thread.others.iter().find(|other| other.read == read) {
            Some(other) => other.found,
            None => self.trace().data(read)?.found,
        }
    }

    /// The locks that a thread holds exclusively in a state.
    pub fn held_exclusively(&self, state: &State, thread: ThreadId) -> Vec<LockId> {
        let locks = (0u32..).map(LockId::new).zip(&state.locks);
        locks.filter(|(_, lock)| lock.writer == Some(thread)).map(|(id, _)| id).collect()
    }

    /// Whether the condition of a branch or a check holds in a state, if the model computes it.
    pub(super) fn condition(&self, state: &State, event: EventId) -> Option<Condition> {
        let computes = match self.trace().op(event) {
            Op::Check { .. } => self.model().has_values(),
            _ => self.model().has_expressions(),
        };
        let condition = self.trace().data(event).and_then(|data| data.is.as_ref());
        let condition = condition.filter(|_| computes)?;
        Some(match self.computed(state, event, condition) {
            None => Condition::Unknown,
            Some(id) if is_true(self.trace().values().get(id)) => Condition::Holds,
            Some(_) => Condition::Fails,
        })
    }

    /// Whether a thread may pass a branch or a check.
    pub(super) fn may_decide(&self, state: &State, event: EventId) -> Result<(), WhyNot> {
        let t = self.trace().thread(event);
        if !self.model().has_values() || state.is_clean(t) {
            return Ok(());
        }
        match self.condition(state, event) {
            Some(Condition::Holds) => Ok(()),
            Some(Condition::Fails) => Err(WhyNot::Fails(t)),
            Some(Condition::Unknown) => Err(WhyNot::NotKnown(t)),
            None => Err(WhyNot::NotClean(t)),
        }
    }

    /// Whether a compare-exchange goes as it was observed to go.
    pub(super) fn may_exchange(
        &self,
        state: &State,
        event: EventId,
        var: VarId,
        wanted: ValueId,
    ) -> Result<(), WhyNot> {
        let (trace, t) = (self.trace(), self.trace().thread(event));
        if !self.model().has_values() {
            return Ok(());
        }
        let data = trace.data(event).filter(|_| self.model().has_expressions());
        let expects = data.and_then(|data| data.expects.as_ref());
        let Some(expects) = expects.filter(|_| !trace.is_mixed(var)) else {
            if !state.is_clean(t) {
                return Err(WhyNot::NotClean(t));
            }
            return self.holds(state, var, wanted);
        };
        let expected = self.computed(state, event, expects).ok_or(WhyNot::NotKnown(t))?;
        let found = state.vars[var.index()].value;
        let goes = match (found, trace.op(event)) {
            (None, _) => false,
            (Some(found), Op::CasFail { .. }) => found != expected,
            (Some(found), _) => found == expected,
        };
        if goes { Ok(()) } else { Err(WhyNot::Holds { var, wanted: expected, found }) }
    }

    /// A thread finds what a variable holds.
    pub(super) fn find(&self, state: &mut State, event: EventId, var: VarId, observed: ValueId) {
        if self.finds(state, var, observed) {
            return;
        }
        let held = state.vars[var.index()].value.filter(|_| !self.trace().is_mixed(var));
        self.found_other(state, event, held);
    }

    /// A thread has found something else than in the observed run.
    pub(super) fn found_other(&self, state: &mut State, event: EventId, found: Option<ValueId>) {
        let trace = self.trace();
        let thread = &mut state.threads[trace.thread(event).index()];
        // Where it was matters only where something is said of values.
        let position = if trace.has_data() { trace.position(event) as u32 } else { 0 };
        thread.other.get_or_insert(position);
        if trace.data(event).is_some_and(|data| data.found.is_some()) {
            thread.others.push(Other { read: event, found });
        }
    }

    /// What a write leaves, if that is known.
    pub(super) fn written(
        &self,
        state: &State,
        event: EventId,
        t: ThreadId,
        observed: ValueId,
    ) -> Option<ValueId> {
        if state.is_clean(t) {
            return Some(observed);
        }
        let data = self.trace().data(event).filter(|_| self.model().has_expressions())?;
        self.computed(state, event, data.is.as_ref()?)
    }

    /// The message of a send.
    pub(super) fn message(&self, state: &State, event: EventId, name: ValueId) -> Message {
        let known = state.is_clean(self.trace().thread(event));
        let data = self.trace().data(event);
        let content = data.and_then(|data| data.is.as_ref());
        let content = content.filter(|_| known || self.model().has_expressions());
        let content = content.and_then(|content| self.computed(state, event, content));
        Message { name, known, content }
    }

    /// A thread has received a message.
    pub(super) fn receive(&self, state: &mut State, event: EventId, message: Option<Message>) {
        let content = message.and_then(|message| message.content);
        let data = self.trace().data(event);
        let observed = data.and_then(|data| data.found);
        if message.is_some_and(|message| message.known) {
            return;
        }
        let thread = &mut state.threads[self.trace().thread(event).index()];
        let position =
            if self.trace().has_data() { self.trace().position(event) as u32 } else { 0 };
        thread.other.get_or_insert(position);
        if observed.is_some() && content != observed {
            thread.others.push(Other { read: event, found: content });
        }
    }
}
