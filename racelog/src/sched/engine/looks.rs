//! The clock of a run as its threads see it.
//!
//! It is never behind the clock by which time-outs come, and may be ahead of it: a thread that was
//! chosen while it slept has slept, and for one that does nothing but look at the clock time passes,
//! or its loop would not end. Time-outs of others come no earlier for that. A test that waits for
//! others, ten seconds at most, does not give up while they have something to do.

use crate::rt::Action;
use crate::sched::model::slot::Slot;

/// How often a thread looks before time passes for that, if nobody else has something to do but to
/// look at the clock, or cannot.
const FEW: u32 = 64;

/// The same if others have.
const MANY: u32 = 4096;

/// After so many further looks time passes twice as fast.
const DOUBLES: u32 = 16;

/// As slowly as time passes for a look, and as fast, in nanoseconds.
const SLOWEST: u64 = 1_000;
const FASTEST: u64 = 60_000_000_000;

/// How far the clock that is seen is ahead, in nanoseconds.
#[derive(Default)]
pub(super) struct Looks {
    ahead: u64,
}

impl Looks {
    /// What a thread sees at this time.
    pub(super) fn shown(&self, now: u64) -> u64 {
        now.saturating_add(self.ahead)
    }

    /// A thread does what it stands before, as one of those who could.
    pub(super) fn pass(&mut self, slots: &[Slot], at: usize, enabled: &[usize], now: u64) {
        let slot = &slots[at];
        match slot.intent.action {
            Action::Sleep => self.ahead = self.ahead.max(slot.wakes_at.saturating_sub(now)),
            Action::Clock => {
                let only_looks = |other: &usize| *other == at || slots[*other].looks >= FEW;
                let patience = if enabled.iter().all(only_looks) { FEW } else { MANY };
                if let Some(more) = slot.looks.checked_sub(patience) {
                    let faster = SLOWEST.checked_shl(more / DOUBLES).unwrap_or(FASTEST);
                    self.ahead = self.ahead.saturating_add(faster.min(FASTEST));
                }
            }
            _ => {}
        }
    }
}
