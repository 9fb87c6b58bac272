//! Which events of a trace are kept.

use crate::trace::EventId;

/// Events that are to be kept, while they are gathered.
#[derive(Debug)]
pub(super) struct Kept {
    kept: Vec<bool>,
}

impl Kept {
    /// None of so many events.
    pub(super) fn new(events: usize) -> Self {
        Self { kept: vec![false; events] }
    }

    pub(super) fn add_all(&mut self) {
        self.kept.fill(true);
    }

    pub(super) fn add(&mut self, at: usize) {
        self.kept[at] = true;
    }

    /// Keeps an event, and so many before and after it.
    pub(super) fn add_around(&mut self, at: usize, around: usize) {
        let end = at.saturating_add(around).saturating_add(1).min(self.kept.len());
        self.kept[at.saturating_sub(around)..end].fill(true);
    }

    pub(super) fn leave_out(&mut self, at: usize) {
        self.kept[at] = false;
    }

    /// All of them, in order.
    pub(super) fn finish(self) -> Vec<EventId> {
        let kept = self.kept.iter().enumerate().filter(|(_, kept)| **kept);
        kept.map(|(at, _)| EventId::from_index(at)).collect()
    }
}
