//! Events in their order, with what lies between them: ready to be drawn.
//!
//! A [`Timeline`] has the events of one trace as compact columns, the order that was observed, and
//! the order of a witness for each finding that is to be shown. Each order is a [`Course`]: which
//! lock is held from where to where, and which event made which other one possible.
//!
//! Of traces that are too long to be drawn only what surrounds the races is kept: see [`Limits`].

mod course;
mod events;
mod kept;
#[cfg(test)]
mod tests;

use racelog::trace::Object;

pub use self::course::{Arrow, ArrowKind, Course, Hold, Region};
pub use self::events::{Events, NONE};
use self::kept::Kept;
use crate::finding::Occurrence;
use crate::trace::{EventId, Trace};

/// How much of a trace is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// A trace with no more events than that is kept whole.
    pub whole: usize,
    /// Of a longer one, so many events before and after each event of a finding.
    pub around: usize,
    /// So many of the last steps of a witness.
    pub witness: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { whole: 100_000, around: 1_000, witness: 100_000 }
    }
}

/// What can be drawn of a trace.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// The threads: a lane each.
    pub threads: Vec<String>,
    /// How many events the trace has that could be shown.
    pub trace_events: u64,
    /// The events that are kept, in the observed order.
    pub events: Events,
    /// The order that was observed.
    pub observed: Course,
    /// The rows of each finding's events; `None` for those of another trace.
    pub events_of: Vec<Option<Vec<u32>>>,
    /// The order of each finding's witness.
    pub witnesses: Vec<Option<Course>>,
}

/// A finding in a trace that has its events.
pub(super) struct Shown {
    /// The events that make it up.
    pub(super) parts: Vec<EventId>,
    /// What else led there: where locks were taken, notifications.
    pub(super) others: Vec<EventId>,
    pub(super) witness: Option<Vec<EventId>>,
}

impl Shown {
    /// What is to be shown of an occurrence; `None` if it is of another trace.
    fn new(trace: &Trace, occurrence: &Occurrence) -> Option<Self> {
        let known = |number: u64| EventId::from_number(number).filter(|it| trace.contains(*it));
        let all = |is_primary: bool| {
            let parts = occurrence.parts.iter();
            let parts = parts.filter(move |part| part.role.is_primary() == is_primary);
            parts.map(|part| known(part.event)).collect::<Option<Vec<EventId>>>()
        };
        let (parts, others) = (all(true)?, all(false)?);
        let witness = match &occurrence.witness {
            Some(witness) => Some(witness.unpack(trace)?),
            None => None,
        };
        Some(Self { parts, others, witness })
    }

    /// The last steps of the witness, so many.
    fn tail(&self, most: usize) -> &[EventId] {
        let witness = self.witness.as_deref().unwrap_or_default();
        &witness[witness.len().saturating_sub(most)..]
    }
}

impl Timeline {
    /// What is to be drawn for some findings of a trace. `prefixes` are taken off the names of
    /// files.
    ///
    /// Findings whose events the trace does not have are of another trace: they get nothing.
    pub fn new(
        trace: &Trace,
        findings: &[&Occurrence],
        limits: &Limits,
        prefixes: &[String],
    ) -> Self {
        let findings: Vec<Option<Shown>> =
            findings.iter().map(|occurrence| Shown::new(trace, occurrence)).collect();
        Self::draw(trace, &findings, limits, prefixes)
    }

    /// The same for findings that are known to be of this trace.
    pub(super) fn draw(
        trace: &Trace,
        findings: &[Option<Shown>],
        limits: &Limits,
        prefixes: &[String],
    ) -> Self {
        let mut kept = Kept::new(trace.len());
        if trace.len() <= limits.whole {
            kept.add_all();
        } else {
            for shown in findings.iter().flatten() {
                let around = shown.parts.iter().chain(&shown.others).map(|event| event.index());
                around.for_each(|at| kept.add_around(at, limits.around));
                // The end of a witness matters as much; what leads there may stand far away.
                let last = shown.tail(limits.witness.min(2 * limits.around));
                last.iter().for_each(|event| kept.add(event.index()));
            }
        }
        // An `RwLock` is one lock to people, and what the recorder adds is none.
        let added = trace.events().filter(|event| trace.is_of_added_lock(*event));
        let added = added.map(|event| kept.leave_out(event.index())).count() as u64;
        let kept = kept.finish();
        let events = Events::new(trace, &kept, prefixes);
        let whole: Vec<EventId> = trace.events().collect();
        let rows = |order: &[EventId], from: usize| -> Vec<(u32, u32)> {
            let steps = (0_u32..).zip(order).skip(from);
            steps.filter_map(|(step, event)| Some((step, events.row(*event)?))).collect()
        };
        let mut printer = trace.printer();
        let observed = Course::new(trace, &whole, 0, &rows(&whole, 0), &mut printer);
        let witnesses = findings.iter().map(|shown| {
            let shown = shown.as_ref()?;
            let witness = shown.witness.as_deref()?;
            let parts = shown.parts.len();
            let tail = witness.len().saturating_sub(limits.witness.max(parts));
            // The events that have not happened when the witness ends.
            let pending = witness.iter().rev().take_while(|it| shown.parts.contains(it)).count();
            Some(Course::new(trace, witness, pending, &rows(witness, tail), &mut printer))
        });
        let witnesses = witnesses.collect();
        let events_of = findings.iter().map(|shown| {
            // What is done to a lock that the recorder has added is not drawn.
            let parts = shown.as_ref()?.parts.iter();
            let rows: Vec<u32> = parts.filter_map(|event| events.row(*event)).collect();
            (!rows.is_empty()).then_some(rows)
        });
        let events_of = events_of.collect();
        let name = |thread| printer.name(Object::Thread(thread)).to_owned();
        let threads = trace.threads().map(name).collect();
        let trace_events = trace.len() as u64 - added;
        Self { threads, trace_events, events, observed, events_of, witnesses }
    }

    /// Whether only a part of the trace is kept.
    pub fn is_cut(&self) -> bool {
        (self.events.len() as u64) < self.trace_events
    }
}
