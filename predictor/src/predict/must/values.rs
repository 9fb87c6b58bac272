//! What reads force: a thread that decides by what it has read needs it to be what it was.

use racelog::trace::{ThreadId, VarId};

use super::super::writes::{Write, Writes};
use super::{Builder, Clock, Values};
use crate::index::near;
use crate::trace::{EventId, Op, ValueId};

/// How many writes of a value are looked at for one by a given thread.
const LOOKED_AT: usize = 64;

impl Builder<'_> {
    /// Who decides by what it has read needs it to be what it was.
    pub(super) fn follow_values(&mut self, event: EventId, values: Values<'_>) {
        let trace = self.trace;
        let (op, thread, position) = (trace.op(event), trace.thread(event), trace.position(event));
        if trace.is_guarded(event) || op.decides() && !trace.may_pass(event) {
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
        if let Some(forced) = self.forced(event, &op, values) {
            self.clean.raise(thread, position, &forced);
        }
        if let Op::Cas { .. } | Op::CasFail { .. } = op
            && !trace.may_pass(event)
        {
            self.needed.raise(thread, position, self.clean.last(thread));
        }
        if op.writes()
            && let Some(var) = op.var()
        {
            self.last_write.set(var, thread, event);
        }
        self.passed[thread.index()] = position as u32 + 1;
    }

    /// What must have happened for a read to find its value: what all writes that could have given
    /// it have in common. Of the writes of a thread the first one that a read can find is enough,
    /// for the others come after it.
    fn forced(&self, read: EventId, op: &Op, values: Values<'_>) -> Option<Clock> {
        let (trace, thread) = (self.trace, self.trace.thread(read));
        let (var, value) = (op.var()?, *op.found()?);
        // Where values are computed, others may be that one.
        if trace.is_mixed(var) || trace.is_computed(var) {
            return None;
        }
        let own = self.last_write.get(var, thread);
        if own.is_some_and(|own| trace.op(own).left() == Some(&value)) {
            return None;
        }
        if own.is_none()
            && trace.initial_value(var) == value
            && !self.is_written(var, thread, values)
        {
            return None;
        }
        let known = self.clean.last(thread);
        let mut common: Option<Clock> = None;
        for (other, list) in values.writes.of_var(var).filter(|(other, _)| *other != thread) {
            let found = self.first_source(read, own, (other, list), (var, value), values);
            let Some(first) = found else { continue };
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
    fn is_written(&self, var: VarId, thread: ThreadId, values: Values<'_>) -> bool {
        let known = self.clean.last(thread);
        let mut writers = values.writes.of_var(var);
        writers.any(|(writer, list)| list[0].position < known[writer.index()])
    }

    /// What must have happened for a read to find what a thread has written; none if it cannot.
    ///
    /// It cannot find what was written before something that was written by the same thread, or
    /// must come later, and must have happened; nor what must have been written before what the
    /// reader wrote itself; nor what must be written later.
    fn first_source(
        &self,
        read: EventId,
        own: Option<EventId>,
        (writer, list): (ThreadId, &[Write]),
        (var, value): (VarId, ValueId),
        values: Values<'_>,
    ) -> Option<Clock> {
        let (trace, thread) = (self.trace, self.trace.thread(read));
        let known = self.clean.last(thread)[writer.index()];
        let mut first = self.written_before(writer, list, known).saturating_sub(1);
        if let Some(own) = own {
            let before = self.clean.at(thread, trace.position(own))[writer.index()];
            while list.get(first).is_some_and(|write| write.position < before) {
                first += 1;
            }
        }
        let hidden = |write: &Write| {
            write.value == value
                && write.position < known
                && self.is_hidden(var, (writer, write.position), thread, values.writes)
        };
        first += usize::from(list.get(first).is_some_and(hidden));
        let events = trace.events_of_thread(writer);
        let start = events[list.get(first)?.position as usize];
        let all = self.index.writes_of(var, value);
        let likely = near::likely(all.len(), start.index(), trace.len());
        let rest = &all[near::partition_point(all, likely, |write| *write < start)..];
        let by_writer = |write: &&EventId| trace.thread(**write) == writer;
        let found = rest.iter().take(LOOKED_AT).find(by_writer);
        // If none was found so far, it is at least none that comes earlier than this.
        let earliest = match found {
            Some(write) => *write,
            None => *rest.get(LOOKED_AT)?,
        };
        if earliest > read {
            if found.is_some() && values.plain.is_before(trace, read, earliest) {
                return None;
            }
            // It comes later in the trace, and what it needs is not known yet: at least what its
            // thread has needed so far.
            let mut clock = self.clean.last(writer).to_vec();
            clock[writer.index()] = self.passed[writer.index()];
            return Some(clock);
        }
        if found.is_some() {
            return Some(self.source(earliest, read));
        }
        let before = events.partition_point(|event| *event < earliest);
        Some(match before.checked_sub(1) {
            Some(last) => self.including(events[last], &self.clean),
            None => vec![0; trace.thread_count()],
        })
    }

    /// How many of the writes of a thread are among so many first events of it.
    fn written_before(&self, writer: ThreadId, list: &[Write], events: u32) -> usize {
        let all = self.trace.events_of_thread(writer).len();
        let likely = near::likely(list.len(), events as usize, all);
        near::partition_point(list, likely, |write| write.position < events)
    }

    /// Whether a thread that is clean must have seen a later write of another thread happen.
    fn is_hidden(
        &self,
        var: VarId,
        (writer, position): (ThreadId, u32),
        thread: ThreadId,
        writes: &Writes,
    ) -> bool {
        let known = self.clean.last(thread);
        let mut others =
            writes.of_var(var).filter(|(other, _)| *other != writer && *other != thread);
        others.any(|(other, list)| {
            let count = self.written_before(other, list, known[other.index()]);
            let last = count.checked_sub(1).map(|at| list[at].position as usize);
            last.is_some_and(|last| self.needed.at(other, last)[writer.index()] > position)
        })
    }

    /// What must have happened for a read to find what a write left.
    fn source(&self, write: EventId, read: EventId) -> Clock {
        let mut clock = self.including(write, &self.clean);
        let (trace, writer) = (self.trace, self.trace.thread(write));
        let regions = &self.index.regions;
        let (written, found) = (regions.held_at(trace, write), regions.held_at(trace, read));
        if !regions.sets().exclude(written, found) {
            return clock;
        }
        // The writer has left the regions that exclude the reader's.
        for (lock, exclusive) in regions.sets().locks(written) {
            let clashes = |(other, others): (_, bool)| other == lock && (exclusive || others);
            if regions.sets().locks(found).any(clashes)
                && let Some(release) = regions.release_after(trace, lock, write)
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
