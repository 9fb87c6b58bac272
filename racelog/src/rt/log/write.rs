//! How events get into the chunks of a thread, or are lost.

use std::cell::Cell;

use super::entries::{SaidStep, Step};
use super::thread_log::{REMEMBERED, REPEATED, ThreadLog};
use crate::rt::base::call_site::CallSite;
use crate::rt::base::control;
use crate::rt::memory::freeing::quiet;
use crate::rt::store::chunks::Entry;
use crate::rt::store::slot::Full;
use crate::trace::binary::code;
use crate::trace::{LocId, Op, Patience};

impl ThreadLog {
    // Inlined where the kind of operation is known: what is left of the encoding is then little.
    #[inline(always)]
    pub(super) fn write(
        &self,
        stamp: u64,
        op: Op,
        here: Option<CallSite>,
        recorded: bool,
        patience: Patience,
        slot: Option<usize>,
    ) {
        if self.watched {
            // Only a copy has to be in memory: the compiler can take the operation itself apart.
            let copy = op;
            control::observe(&copy, here);
        }
        // What was stamped just before recording ended still belongs to the trace.
        if self.session.is_stopped() && stamp > self.session.floor() {
            return self.lose(stamp, true, None);
        }
        let location = match here {
            None => None,
            Some(call_site) => match self.remembered(call_site) {
                Some(id) => Some(id),
                None => {
                    // Only a copy has to be in memory here, too.
                    let copy = op;
                    let how = (recorded, patience);
                    return self.write_at_new_location(stamp, &copy, call_site, how, slot);
                }
            },
        };
        self.append_step(Step { stamp, op, location, recorded, patience, slot });
    }

    /// Records an event at a location that is new to this thread.
    #[cold]
    #[inline(never)]
    fn write_at_new_location(
        &self,
        stamp: u64,
        op: &Op,
        call_site: CallSite,
        (recorded, patience): (bool, Patience),
        slot: Option<usize>,
    ) {
        let (id, offset) = match self.session.locate(call_site) {
            Ok(found) => found,
            Err(full) => return self.lose(stamp, true, Some(&full)),
        };
        let address = call_site.key();
        self.cached_location(address).set((address, id.get()));
        // The chunk of the event must come after that of the location.
        self.go_behind(offset);
        self.append_step(Step { stamp, op: *op, location: Some(id), recorded, patience, slot });
    }

    /// The id of a location, `Some(None)` for none; `None` if there is no room for a new one. Then
    /// the next event finds that out, too.
    pub(super) fn location(&self, here: Option<CallSite>) -> Option<Option<LocId>> {
        let Some(call_site) = here else { return Some(None) };
        if let Some(id) = self.remembered(call_site) {
            return Some(Some(id));
        }
        let (id, offset) = self.session.locate(call_site).ok()?;
        let address = call_site.key();
        self.cached_location(address).set((address, id.get()));
        self.go_behind(offset);
        Some(Some(id))
    }

    /// The id of a location that this thread remembers.
    #[inline]
    fn remembered(&self, call_site: CallSite) -> Option<LocId> {
        let address = call_site.key();
        let (known, id) = self.cached_location(address).get();
        (known == address).then_some(LocId::new(id))
    }

    #[inline]
    fn cached_location(&self, address: usize) -> &Cell<(usize, u32)> {
        &self.locations[(address >> 3) % REMEMBERED]
    }

    /// Appends an event, with how often the look before it was repeated.
    #[inline(always)]
    pub(super) fn append_step(&self, step: Step) {
        if self.bars_short.get() & REPEATED == 0 {
            self.append(step);
        } else {
            // Only a copy has to be in memory, here, too.
            let copy = step;
            self.append_after_looks(&copy);
        }
    }

    #[cold]
    #[inline(never)]
    fn append_after_looks(&self, step: &Step) {
        match self.take_again() {
            Some(said) => self.append(SaidStep { step: *step, said: &[said] }),
            None => self.append(*step),
        }
    }

    #[inline(always)]
    pub(super) fn append(&self, entry: impl Entry + Copy) {
        if !self.chunks.try_append(&entry) {
            // Only a copy has to be in memory: the compiler can take the entry itself apart.
            let copy = entry;
            self.append_slowly(&copy);
        }
        self.decide_on_short();
    }

    /// Appends to a chunk that may be too short, or to a new one.
    #[cold]
    #[inline(never)]
    fn append_slowly(&self, entry: &dyn Entry) {
        let _quiet = quiet();
        let is_event = !matches!(entry.code(), code::INIT | code::REQUEST);
        if self.lost.get() {
            return self.lose(entry.stamp(), is_event, None);
        }
        self.session.reached(self.chunks.stamp());
        match self.chunks.append_slowly(self.session.file(), entry) {
            Ok(in_new_chunk) => {
                self.session.reached(entry.stamp());
                if in_new_chunk {
                    self.kept.clear();
                }
            }
            Err(full) => self.lose(entry.stamp(), is_event, Some(&full)),
        }
    }

    /// What has this stamp is not recorded, be it an event or what belongs to one, because there is
    /// no room, or because recording has ended.
    #[cold]
    #[inline(never)]
    pub(super) fn lose(&self, stamp: u64, is_event: bool, full: Option<&Full>) {
        // What belongs to an event stands for it: it is next, and lost as well.
        let counted = self.counted_ahead.replace(!is_event);
        self.lost.set(true);
        self.count_short();
        self.chunks.shut();
        // In this order: a thread that notices the end finds the cut.
        self.session.lose(stamp, !counted);
        if let Some(full) = full {
            self.session.stop(full);
        }
    }

    /// Sees to it that the next event comes after what is defined at this offset.
    pub(super) fn go_behind(&self, offset: u64) {
        if self.chunks.is_before(offset) {
            self.seal();
        }
    }

    /// Marks the open chunk as complete. The next event opens another.
    pub(in crate::rt) fn seal(&self) {
        self.count_short();
        self.session.reached(self.chunks.stamp());
        // If there is no room to make it complete it stays as it is, which is readable, too.
        let _ = self.chunks.seal(self.session.file());
    }
}
