//! The data that a lock guards, where it is a word: its accesses have values.
//!
//! A guard hands out references. What a shared one reads is known when it is handed out: nobody
//! changes the word while it lives. What is written through a `&mut` is known only when that is
//! gone, which the recorder is not told. So the write is *open* until the holder of the lock uses
//! the guard again or gives the lock back, and is recorded then, with what is there. That is right
//! wherever in the section it is: nobody else reaches the data before the lock is given back. If the
//! thread has read something else in between, fewer executions are known to leave this value: a
//! write that comes later depends on more.

use crate::rt::base::call_site::CallSite;
use crate::rt::base::spin::Spin;
use crate::rt::log::thread_log::{Expected, ThreadLog};
use crate::rt::memory::cell_record::CellRecord;
use crate::trace::{Op, Value, VarId};

/// What is known of a word that a lock guards.
#[derive(Debug)]
pub(super) struct GuardedWord(Spin<Record>);

#[derive(Debug)]
struct Record {
    cell: CellRecord,
    open: Option<OpenWrite>,
}

/// A write that is not recorded yet.
#[derive(Clone, Copy, Debug)]
struct OpenWrite {
    /// Where the holder got the reference.
    here: Option<CallSite>,
}

/// The word: which variable it is, and what it holds.
pub(super) type Word = (VarId, Value);

impl GuardedWord {
    pub(super) const fn new() -> Self {
        Self(Spin::new(Record { cell: CellRecord::new(), open: None }))
    }

    /// The holder of the lock reads it.
    pub(super) fn read(&self, log: &ThreadLog, word: Word, here: Option<CallSite>) {
        let mut record = self.0.lock();
        record.close(log, word, false);
        record.read(log, word, here);
    }

    /// The holder, who has the lock exclusively, may read and write it from here on.
    pub(super) fn lend(&self, log: &ThreadLog, word: Word, here: Option<CallSite>) {
        let mut record = self.0.lock();
        record.close(log, word, false);
        record.read(log, word, here);
        record.open = Some(OpenWrite { here });
    }

    /// The holder, who has the lock exclusively, writes it next and does not read it.
    pub(super) fn overwrite(&self, log: &ThreadLog, word: Word, here: Option<CallSite>) {
        let mut record = self.0.lock();
        record.close(log, word, false);
        record.cell.found(log, word.0, word.1, here);
        record.open = Some(OpenWrite { here });
    }

    /// The holder is done with what it may have written: if `in_time`, right now.
    pub(super) fn close(&self, log: &ThreadLog, word: Word, in_time: bool) {
        self.0.lock().close(log, word, in_time);
    }

    /// It is reached through the only reference to the lock, whose clock this is.
    pub(super) fn exclusive(
        &mut self,
        log: &ThreadLog,
        (var, value): Word,
        clock: u64,
        here: Option<CallSite>,
    ) {
        let record = self.0.get_mut();
        record.cell.clock = record.cell.clock.max(clock);
        // Who has forgotten its guard wrote what is there.
        record.open = None;
        record.cell.exclusive(log, var, value, here);
    }
}

impl Record {
    fn read(&mut self, log: &ThreadLog, (var, value): Word, here: Option<CallSite>) {
        self.cell.found(log, var, value, here);
        self.cell.emit(log, Op::Read { var, value }, here);
    }

    /// Records the write that is open.
    fn close(&mut self, log: &ThreadLog, (var, value): Word, in_time: bool) {
        let Some(OpenWrite { here }) = self.open.take() else { return };
        if !self.cell.is_new_to(log) {
            let op = Op::Write { var, value };
            if in_time {
                let outer = log.expect(Expected::Bare);
                self.cell.emit(log, op, here);
                log.expect(outer);
            } else {
                self.cell.clock = log.tick(self.cell.clock);
                log.emit_late(self.cell.clock, op, here);
            }
        }
        self.cell.left(value);
    }
}
