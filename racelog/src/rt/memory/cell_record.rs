//! What the recorder knows of a cell: the data alone. `objects::cell_events` writes the events.

use crate::trace::Value;

/// What the recorder knows of a cell.
#[derive(Debug)]
pub(crate) struct CellRecord {
    pub(crate) clock: u64,
    /// Its clock when it was last used other than by a look: whoever has looked since has found
    /// what is there.
    pub(in crate::rt) changed: u64,
    /// What it holds as far as the last trace knows; opaque if that is not recorded.
    pub(in crate::rt) value: Value,
    /// The session in which it was used last; 0 if in none.
    pub(in crate::rt) session: u32,
    /// The other sessions in which it was used.
    earlier: Vec<u32>,
}

impl CellRecord {
    pub(crate) const fn new() -> Self {
        Self { clock: 0, changed: 0, value: Value::Opaque, session: 0, earlier: Vec::new() }
    }

    /// Whether the session has heard of the cell.
    #[inline]
    pub(in crate::rt) fn is_known_to(&self, session: u32) -> bool {
        self.session == session || self.earlier.contains(&session)
    }

    /// The cell was last used then and holds this, by accesses of its owner, which are recorded.
    pub(crate) fn catch_up(&mut self, clock: u64, value: Value) {
        self.clock = self.clock.max(clock);
        self.changed = self.clock;
        self.value = value;
    }

    /// Says what the cell holds from now on.
    #[inline]
    pub(crate) fn left(&mut self, value: Value) {
        self.value = value;
    }

    /// What it holds as far as is known.
    #[inline]
    pub(in crate::rt) fn value(&self) -> Value {
        self.value
    }

    /// The session knows the cell from now on, and uses it now.
    pub(in crate::rt) fn enter(&mut self, session: u32) {
        if self.session != session {
            self.earlier.retain(|earlier| *earlier != session);
            if self.session != 0 {
                self.earlier.push(self.session);
            }
            self.session = session;
        }
    }
}
