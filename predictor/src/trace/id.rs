//! The identity of events.

use std::fmt;

/// An event of a loaded trace. Its number, counted from 1 in the trace's order, is its identity in
/// every report.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(u32);

impl EventId {
    /// The event at this index, counted from 0.
    pub fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("a loaded trace has fewer than 2^31 events"))
    }

    /// The event with this number, counted from 1; `None` for 0 and for numbers that no loaded
    /// trace reaches.
    pub fn from_number(number: u64) -> Option<Self> {
        u32::try_from(number.checked_sub(1)?).ok().map(Self)
    }

    /// Counted from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Counted from 1.
    pub const fn number(self) -> u64 {
        self.0 as u64 + 1
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {}", self.number())
    }
}
