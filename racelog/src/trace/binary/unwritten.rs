//! The reads that are not written down: that a lock was found not poisoned.
//!
//! A lock that nobody ever poisons tells those who take it nothing, so a recorder writes nothing. Once
//! one is poisoned, it was a read each time that it was found sound, and a recorder writes down those to
//! come. Those that went before are added here, where the trace is read: so whoever reads a trace sees all
//! of them, as events like any other, and nobody else has to know.
//!
//! Events then have other numbers than in the file, and their stamps are these numbers: there would be no
//! room for the new ones between the old.

use super::tables::PoisonFlag;
use crate::trace::{Event, Item, MemoryOrdering, Op, Stamp, Value, VarId};

/// What a lock's poison flag holds before the lock is poisoned.
const SOUND: Value = Value::Nat(0);

/// Adds the reads that are not written down.
#[derive(Debug, Default)]
pub(super) struct UnwrittenReads {
    /// The locks that have not been poisoned yet.
    flags: Vec<PoisonFlag>,
    /// How many events were yielded, if they are numbered anew.
    renumbered: Option<u64>,
    /// What comes next.
    next: Option<Event>,
}

impl UnwrittenReads {
    pub(super) fn new(flags: Vec<PoisonFlag>) -> Self {
        let renumbered = (!flags.is_empty()).then_some(0);
        Self { flags, renumbered, next: None }
    }

    /// Whether there may be anything to do.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.renumbered.is_some()
    }

    /// The read that comes next, if there is one.
    pub(super) fn next(&mut self) -> Option<Item> {
        let mut event = self.next.take()?;
        self.number(&mut event);
        Some(Item::Event(event))
    }

    /// Looks at an item that was written down. False if it is not to be yielded.
    pub(super) fn pass(&mut self, item: &mut Item) -> bool {
        let event = match item {
            // A variable that is not spoken of holds this, and may have been read already.
            Item::Init { var, value } => return !(*value == SOUND && self.is_flag(*var)),
            Item::Event(event) => event,
        };
        self.number(event);
        match event.op {
            Op::Store { var, value, .. } | Op::Exclusive { var, value } if value != SOUND => {
                // From here on all reads are written down.
                self.flags.retain(|known| known.flag != var);
            }
            Op::Acquire(lock)
            | Op::ReadAcquire(lock)
            | Op::Wake { lock, .. }
            | Op::WakeTimeout { lock, .. } => {
                let known = self.flags.iter().find(|known| known.lock == lock);
                self.next = known.map(|known| found_sound(event, known.flag));
            }
            _ => {}
        }
        true
    }

    fn is_flag(&self, var: VarId) -> bool {
        self.flags.iter().any(|known| known.flag == var)
    }

    fn number(&mut self, event: &mut Event) {
        if let Some(count) = &mut self.renumbered {
            *count += 1;
            event.stamp = Stamp::new(*count);
        }
    }
}

/// The read by which whoever has taken a lock finds that it is not poisoned. It says no place, as a recorder
/// does not either: the program does not do it by itself.
fn found_sound(taken: &Event, flag: VarId) -> Event {
    let ordering = Some(MemoryOrdering::Relaxed);
    let op = Op::Load { var: flag, value: SOUND, ordering };
    // Whether the program goes by it is not known, so it does.
    Event { op, location: None, recorded: false, ..*taken }
}
