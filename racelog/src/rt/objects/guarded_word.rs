//! The data that a lock guards, where it is a word: its accesses have values.
//!
//! What is called for each access is inlined where the type of the word is known: of the encoding
//! of its value little is left then.
//!
//! A guard hands out references. What a shared one reads is known when it is handed out: nobody
//! changes the word while it lives. What is written through a `&mut` is known only when that is
//! gone, which nobody says, and before that the word must not be looked at. So the word is *lent*:
//! the write is recorded when the holder of the lock uses the guard again or is about to give the
//! lock back, with what is there. That is right wherever in the section it is, for nobody else
//! takes the lock before. If the thread has read something else in between, fewer executions are
//! known to leave this value: a write that comes later depends on more.
//!
//! The holder may also show the guard to other threads, which then read without having taken the
//! lock, before or after a write of the holder that has happened long ago. Their reads are no
//! accesses that race: each is recorded as an `exclusive`, which keeps the order that was.

use crate::rt::base::call_site::CallSite;
use crate::rt::base::spin::Spin;
use crate::rt::log::thread_log::{Expected, ThreadLog};
use crate::rt::memory::cell_record::CellRecord;
use crate::trace::{Op, ThreadId, Value, VarId};

/// What is known of a word that a lock guards.
#[derive(Debug)]
pub(super) struct GuardedWord(Spin<Record>);

#[derive(Debug)]
struct Record {
    cell: CellRecord,
    loan: Option<Loan>,
}

/// The holder of the lock has had a reference to change the word by.
#[derive(Clone, Copy, Debug)]
struct Loan {
    /// The holder, and its session.
    session: u32,
    holder: ThreadId,
    /// Where it got the reference.
    here: Option<CallSite>,
    /// Whether what it has written is not recorded yet.
    open: bool,
}

impl Loan {
    #[inline(always)]
    fn is_of(&self, log: &ThreadLog) -> bool {
        self.session == log.session_number() && self.holder == log.thread()
    }
}

/// The word: which variable it is, and what it holds.
pub(super) type Word = (VarId, Value);

impl GuardedWord {
    pub(super) const fn new() -> Self {
        Self(Spin::new(Record { cell: CellRecord::new(), loan: None }))
    }

    /// A thread that has a guard of the lock reads it.
    #[inline(always)]
    pub(super) fn read(&self, log: &ThreadLog, word: Word, here: Option<CallSite>) {
        let mut record = self.0.lock();
        if record.loan.is_some() {
            record.read_lent(log, word, here);
        } else {
            record.read(log, word, here);
        }
    }

    /// The holder, who has the lock exclusively, may read and write it from here on.
    #[inline(always)]
    pub(super) fn lend(&self, log: &ThreadLog, word: Word, here: Option<CallSite>) {
        let mut record = self.0.lock();
        if record.loan.is_some() {
            record.settle_again(log, word);
        }
        record.read(log, word, here);
        record.lend(log, here);
    }

    /// The holder, who has the lock exclusively, writes it next by instrumented code and does not
    /// read it.
    pub(super) fn overwrite(&self, log: &ThreadLog, word: Word, here: Option<CallSite>) {
        let mut record = self.0.lock();
        record.settle_again(log, word);
        record.cell.found(log, word.0, word.1, here);
        record.lend(log, here);
    }

    /// What the holder has just written by instrumented code is this.
    pub(super) fn written(&self, log: &ThreadLog, word: Word) {
        let mut record = self.0.lock();
        let outer = log.expect(Expected::Bare);
        record.settle_by(log, word, |cell, op, here| cell.emit(log, op, here));
        log.expect(outer);
    }

    /// The holder is about to give the lock back.
    #[inline(always)]
    pub(super) fn end_of_loan(&self, log: &ThreadLog, word: Word) {
        let mut record = self.0.lock();
        record.settle(log, word);
        record.loan = None;
    }

    /// Whether a write of this thread is not recorded yet.
    #[cfg(debug_assertions)]
    pub(super) fn is_open(&self, log: &ThreadLog) -> bool {
        self.0.lock().loan.is_some_and(|loan| loan.open && loan.is_of(log))
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
        record.loan = None;
        record.cell.exclusive(log, var, value, here);
    }
}

impl Record {
    #[inline(always)]
    fn read(&mut self, log: &ThreadLog, (var, value): Word, here: Option<CallSite>) {
        self.cell.found(log, var, value, here);
        self.cell.emit(log, Op::Read { var, value }, here);
    }

    /// It is read where its holder has had a reference to change it by.
    #[inline(never)]
    fn read_lent(&mut self, log: &ThreadLog, word: Word, here: Option<CallSite>) {
        let of_another = |loan: Loan| loan.session == log.session_number() && !loan.is_of(log);
        if self.loan.is_some_and(of_another) {
            self.cell.exclusive(log, word.0, word.1, here);
        } else {
            self.settle(log, word);
            self.read(log, word, here);
        }
    }

    /// As [`settle`](Self::settle), where the holder uses its guard again.
    #[inline(never)]
    fn settle_again(&mut self, log: &ThreadLog, word: Word) {
        self.settle(log, word);
    }

    #[inline(always)]
    fn lend(&mut self, log: &ThreadLog, here: Option<CallSite>) {
        let (session, holder) = (log.session_number(), log.thread());
        self.loan = Some(Loan { session, holder, here, open: true });
    }

    /// Records what the holder has written. It may have gone by all that it has read until now.
    #[inline(always)]
    fn settle(&mut self, log: &ThreadLog, word: Word) {
        self.settle_by(log, word, |cell, op, here| {
            cell.clock = log.tick(cell.clock);
            log.emit_decision(cell.clock, op, here);
        });
    }

    #[inline(always)]
    fn settle_by(
        &mut self,
        log: &ThreadLog,
        (var, value): Word,
        emit: impl FnOnce(&mut CellRecord, Op, Option<CallSite>),
    ) {
        let Some(loan) = self.loan.as_mut().filter(|loan| loan.open) else { return };
        // What was written by a thread that this trace does not know is found later.
        if loan.is_of(log) {
            loan.open = false;
            emit(&mut self.cell, Op::Write { var, value }, loan.here);
            self.cell.left(value);
        }
    }
}
