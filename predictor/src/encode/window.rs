//! The part of a trace that is looked at, and the state in which it starts.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::index::Index;
use crate::semantics::{Machine, Replay, State};
use crate::trace::{EventId, Op, Trace};

/// A part of a trace. What comes before it has happened as it was observed; what comes after it
/// does not happen.
#[derive(Clone, Debug)]
pub struct Window {
    pub(super) start: EventId,
    /// The first event after it.
    pub(super) end: EventId,
    pub(super) state: State,
    /// The regions that are open at its start.
    pub(super) open: Vec<u32>,
    /// The `send` events whose messages are in their channels at its start.
    pub(super) unreceived: Vec<EventId>,
}

impl Window {
    /// The whole trace.
    pub fn whole(machine: &Machine<'_>) -> Self {
        Self {
            start: EventId::from_index(0),
            end: EventId::from_index(machine.trace().len()),
            state: machine.initial(),
            open: Vec::new(),
            unreceived: Vec::new(),
        }
    }

    /// The windows with these bounds, which have to come in the order of their starts.
    pub fn cut(machine: &Machine<'_>, index: &Index, bounds: &[Range<usize>]) -> Vec<Self> {
        let trace = machine.trace();
        let mut progress = Progress {
            trace,
            index,
            replay: Replay::observed(machine),
            next: 0,
            open: FxHashSet::default(),
            unreceived: FxHashSet::default(),
        };
        bounds.iter().map(|bounds| progress.window(bounds)).collect()
    }

    /// The events of the window.
    pub fn range(&self) -> Range<usize> {
        self.start.index()..self.end.index()
    }

    /// Whether the window has an event.
    pub fn contains(&self, event: EventId) -> bool {
        self.start <= event && event < self.end
    }
}

/// The observed trace, followed from window to window.
struct Progress<'m, 'a> {
    trace: &'a Trace,
    index: &'m Index,
    replay: Replay<'m, 'a>,
    next: usize,
    open: FxHashSet<u32>,
    unreceived: FxHashSet<EventId>,
}

impl Progress<'_, '_> {
    fn window(&mut self, bounds: &Range<usize>) -> Window {
        while self.next < bounds.start {
            self.step(EventId::from_index(self.next));
            self.next += 1;
        }
        let mut open: Vec<u32> = self.open.iter().copied().collect();
        open.sort_unstable();
        let mut unreceived: Vec<EventId> = self.unreceived.iter().copied().collect();
        unreceived.sort_unstable();
        Window {
            start: EventId::from_index(bounds.start),
            end: EventId::from_index(bounds.end),
            state: self.replay.state().clone(),
            open,
            unreceived,
        }
    }

    fn step(&mut self, event: EventId) {
        self.replay.step(event).expect("a loaded trace is valid");
        if let Some(region) = self.index.regions.at(event) {
            if self.index.regions.get(region).acquire == event {
                self.open.insert(region);
            } else {
                self.open.remove(&region);
            }
        }
        match self.trace.op(event) {
            Op::Send { .. } => {
                self.unreceived.insert(event);
            }
            Op::Recv { channel, .. } => {
                let number = self.index.message_at[&event] as usize;
                let message = self.index.channels[channel.index()].messages[number];
                self.unreceived.remove(&message.send);
            }
            _ => {}
        }
    }
}
