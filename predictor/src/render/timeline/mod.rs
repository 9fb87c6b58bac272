//! Events in their order, with what lies between them: ready to be drawn.
//!
//! A [`Timeline`] has the events of one trace as compact columns, the order that was observed, and
//! the order of a witness for each race that is to be shown. Each order is a [`Course`]: which lock
//! is held from where to where, and which event made which other one possible.
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
use crate::project::Occurrence;
use crate::trace::{EventId, Trace};

/// A race that is to be shown.
#[derive(Clone, Debug)]
pub struct View {
    /// The two accesses.
    pub pair: [EventId; 2],
    /// A schedule that ends in them, if there is one.
    pub witness: Option<Vec<EventId>>,
}

impl View {
    /// The view of an occurrence; `None` if it has event numbers that no trace can have.
    pub fn of(occurrence: &Occurrence) -> Option<Self> {
        let event = |number: u64| EventId::from_number(number);
        let [first, second] = &occurrence.accesses;
        let witness = match &occurrence.witness {
            Some(numbers) => Some(numbers.numbers().map(event).collect::<Option<Vec<_>>>()?),
            None => None,
        };
        Some(Self { pair: [event(first.event)?, event(second.event)?], witness })
    }
}

/// How much of a trace is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// A trace with no more events than that is kept whole.
    pub whole: usize,
    /// Of a longer one, so many events before and after each racing access.
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
    /// The rows of each view's accesses; `None` for those of another trace.
    pub pairs: Vec<Option<[u32; 2]>>,
    /// The order of each view's witness.
    pub witnesses: Vec<Option<Course>>,
}

impl Timeline {
    /// What is to be drawn for some races of a trace. `prefixes` are taken off the names of files.
    ///
    /// Views whose events the trace does not have are of another trace: they get nothing.
    pub fn new(trace: &Trace, views: &[View], limits: &Limits, prefixes: &[String]) -> Self {
        let fits = |view: &View| {
            view.pair.iter().chain(view.witness.iter().flatten()).all(|e| trace.contains(*e))
        };
        let tail = |witness: &[EventId]| witness.len().saturating_sub(limits.witness.max(2));
        let mut kept = Kept::new(trace.len());
        if trace.len() <= limits.whole {
            kept.add_all();
        } else {
            for view in views.iter().filter(|view| fits(view)) {
                let around = view.pair.iter().map(|event| event.index());
                around.for_each(|at| kept.add_around(at, limits.around));
                // The end of a witness matters as much; what leads there may stand far away.
                let witness = view.witness.as_deref().unwrap_or_default();
                let last = witness.len().saturating_sub(limits.witness.min(2 * limits.around));
                witness[last..].iter().for_each(|event| kept.add(event.index()));
            }
        }
        // An `RwLock` is one lock to people, and what the recorder adds is none.
        let added = trace.events().filter(|event| trace.is_of_added_lock(*event));
        let added = added.map(|event| kept.leave_out(event.index())).count() as u64;
        let kept = kept.finish();
        let events = Events::new(trace, &kept, prefixes);
        let whole: Vec<EventId> = trace.events().collect();
        let shown = |order: &[EventId], from: usize| -> Vec<(u32, u32)> {
            let steps = (0_u32..).zip(order).skip(from);
            steps.filter_map(|(step, event)| Some((step, events.row(*event)?))).collect()
        };
        let observed = Course::new(trace, &whole, 0, &shown(&whole, 0));
        let witnesses = views.iter().map(|view| {
            let witness = view.witness.as_deref().filter(|_| fits(view))?;
            Some(Course::new(trace, witness, 2, &shown(witness, tail(witness))))
        });
        let witnesses = witnesses.collect();
        let pairs = views.iter().map(|view| {
            let pair = Some(view.pair).filter(|_| fits(view))?;
            let [first, second] = pair.map(|event| events.row(event));
            Some([first?, second?])
        });
        let pairs = pairs.collect();
        let mut printer = trace.printer();
        let name = |thread| printer.name(Object::Thread(thread)).to_owned();
        let threads = trace.threads().map(name).collect();
        let trace_events = trace.len() as u64 - added;
        Self { threads, trace_events, events, observed, pairs, witnesses }
    }

    /// Whether only a part of the trace is kept.
    pub fn is_cut(&self) -> bool {
        (self.events.len() as u64) < self.trace_events
    }
}
