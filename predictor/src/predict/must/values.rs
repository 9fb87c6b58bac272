//! What reads force: a thread that decides by what it has read needs it to be what it was.

use racelog::trace::{ThreadId, VarId};

use super::{Builder, Clock};
use crate::encode::{value_read, value_written};
use crate::trace::{EventId, Op, ValueId};

/// How many writes of a thread are looked at for one that a read can find.
const LOOKED_AT: usize = 16;

impl Builder<'_> {
    /// Who decides by what it has read needs it to be what it was.
    pub(super) fn follow_values(&mut self, event: EventId) {
        let trace = self.trace;
        let (op, thread, position) = (trace.op(event), trace.thread(event), trace.position(event));
        if trace.is_guarded(event) || matches!(op, Op::Branch) {
            self.needed.raise(thread, position, self.clean.last(thread));
        }
        if let Op::Join(child) = op
            && trace.ends_guarded(child)
        {
            let clean = self.clean.last(child).to_vec();
            self.raise(event, &clean);
        }
        if let Op::Recv { .. } = op
            && let Some(send) = self.index.send_of(trace, event)
        {
            let clean = self.including(send, &self.clean);
            self.clean.raise(thread, position, &clean);
        }
        if let Some(forced) = self.forced(event, &op) {
            self.clean.raise(thread, position, &forced);
        }
        if let Op::Cas { .. } | Op::CasFail { .. } = op {
            self.needed.raise(thread, position, self.clean.last(thread));
        }
        if op.writes()
            && let Some(var) = op.var()
        {
            self.last_write.set(var, thread, event);
        }
        self.passed[thread.index()] = position as u32 + 1;
    }

    /// What must have happened for a read to find its value: what all writes that could have given it
    /// have in common. Of the writes of a thread the first one that a read can find is enough, for the
    /// others come after it.
    fn forced(&self, read: EventId, op: &Op) -> Option<Clock> {
        let (trace, thread) = (self.trace, self.trace.thread(read));
        let (var, value) = (op.var()?, value_read(op)?);
        if trace.is_mixed(var) {
            return None;
        }
        let own = self.last_write.get(var, thread);
        if own.is_some_and(|own| value_written(&trace.op(own)) == Some(value)) {
            return None;
        }
        if own.is_none() && trace.initial_value(var) == value && !self.is_written(var, thread) {
            return None;
        }
        let known = self.clean.last(thread);
        let mut common: Option<Clock> = None;
        for other in trace.threads().filter(|other| *other != thread) {
            let Some(first) = self.first_source(read, own, other, var, value) else { continue };
            match &mut common {
                Some(common) => {
                    for (common, first) in common.iter_mut().zip(&first) {
                        *common = (*common).min(*first);
                    }
                }
                None => common = Some(first),
            }
            // Most have nothing in common that is not known.
            if common.iter().flatten().zip(known).all(|(common, known)| common <= known) {
                return None;
            }
        }
        common
    }

    /// Whether a write of a variable must have happened for a thread to be clean.
    fn is_written(&self, var: VarId, thread: ThreadId) -> bool {
        let Some(writes) = self.writes else { return false };
        let known = self.clean.last(thread).iter().enumerate();
        known.into_iter().any(|(other, count)| {
            writes.get(var, other).first().is_some_and(|write| write.position < *count)
        })
    }

    /// What must have happened for a read to find what a thread has written; none if it cannot.
    ///
    /// It cannot find what was written before something that the same thread wrote, and that must
    /// have happened; nor what must have been written before what the reader wrote itself.
    fn first_source(
        &self,
        read: EventId,
        own: Option<EventId>,
        writer: ThreadId,
        var: VarId,
        value: ValueId,
    ) -> Option<Clock> {
        let (trace, thread) = (self.trace, self.trace.thread(read));
        let list = self.writes?.get(var, writer.index());
        if list.is_empty() {
            return None;
        }
        let known = self.clean.last(thread)[writer.index()];
        let mut first = list.partition_point(|write| write.position < known).saturating_sub(1);
        if let Some(own) = own {
            let before = self.clean.at(thread, trace.position(own))[writer.index()];
            while list.get(first).is_some_and(|write| write.position < before) {
                first += 1;
            }
        }
        let rest = &list[first..];
        let found = rest.iter().take(LOOKED_AT).position(|write| write.value == value);
        // If none was found so far, it is at least not an earlier one.
        let (write, is_source) = match found {
            Some(at) => (rest[at], true),
            None => (*rest.get(LOOKED_AT)?, false),
        };
        let event = trace.events_of_thread(writer)[write.position as usize];
        if event > read {
            // It comes later in the trace, and what it needs is not known yet: at least what its
            // thread has needed so far.
            let mut clock = self.clean.last(writer).to_vec();
            clock[writer.index()] = self.passed[writer.index()];
            return Some(clock);
        }
        Some(if is_source { self.source(event, read) } else { self.including(event, &self.clean) })
    }

    /// What must have happened for a read to find what a write left.
    fn source(&self, write: EventId, read: EventId) -> Clock {
        let mut clock = self.including(write, &self.clean);
        let (trace, Some(held)) = (self.trace, self.held) else { return clock };
        let writer = trace.thread(write);
        let set = |event: EventId| held.at(trace.thread(event), trace.position(event));
        let (written, found) = (set(write), set(read));
        if !held.sets().exclude(written, found) {
            return clock;
        }
        // The writer has left the regions that exclude the reader's.
        for (lock, exclusive) in held.sets().locks(written) {
            let clashes = |(other, others): (_, bool)| other == lock && (exclusive || others);
            if held.sets().locks(found).any(clashes)
                && let Some(release) = self.index.release_after(trace, lock, write)
            {
                let over = self.needed.at(writer, trace.position(release));
                for (mine, over) in clock.iter_mut().zip(over) {
                    *mine = (*mine).max(*over);
                }
                let position = trace.position(release) as u32 + 1;
                clock[writer.index()] = clock[writer.index()].max(position);
            }
        }
        clock
    }
}
