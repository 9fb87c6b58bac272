//! Locks with the data that they guard.

use std::sync::atomic::{AtomicU32, Ordering};

use super::guarded_word::{GuardedWord, Word};
use super::lock::LockMeta;
use super::poison::Poison;
use crate::rt::base::call_site::CallSite;
use crate::rt::base::ids::{NumberedId, counters};
use crate::rt::log::pending::OpenHeld;
use crate::rt::log::thread_log::{HeldUse, ThreadLog};
use crate::rt::memory::plain_words::{Peek, peek_of, plain_word_of};
use crate::rt::threads::attach::with;
use crate::trace::{Op, Value, VarId};

/// A lock and the data that it guards.
///
/// It stands in the mirrors as a field, so that it is they that have no destructor of their own:
/// one would ask more of the lifetimes in what they guard than std's do.
#[derive(Debug)]
pub(crate) struct GuardedMeta {
    pub(crate) lock: LockMeta,
    data: NumberedId,
    /// What is known of the data if it is a word.
    word: GuardedWord,
    /// The session whose trace says that the lock is fair; 0 for none.
    fair_in: AtomicU32,
    pub(crate) poison: Poison,
}

impl GuardedMeta {
    pub(crate) const fn new() -> Self {
        Self {
            lock: LockMeta::new(),
            data: NumberedId::new(),
            word: GuardedWord::new(),
            fair_in: AtomicU32::new(0),
            poison: Poison::new(),
        }
    }

    fn data(&self) -> VarId {
        VarId::new(self.data.get(&counters::VARS))
    }

    /// The lock is a fair one: while a thread waits to take it exclusively, others that want to
    /// share it wait, too. Called before each event of one that shares it.
    #[inline]
    pub(crate) fn is_fair(&self, log: &ThreadLog) {
        if self.fair_in.load(Ordering::Relaxed) != log.session_number() {
            log.define_fair(self.lock.id());
            self.fair_in.store(log.session_number(), Ordering::Relaxed);
        }
    }

    /// The calling thread, which has a guard of the lock, gets a shared reference to the data.
    pub(crate) fn read_data<T: ?Sized>(&self, data: &T, here: Option<CallSite>) {
        match plain_word_of(data) {
            Value::Opaque => self.read(here),
            value => {
                with(|log| {
                    self.word.read(log, (self.data(), value), here);
                    if log.is_expecting() {
                        log.looked_at_held(here);
                    }
                });
            }
        }
    }

    /// The calling thread, which holds the lock exclusively, gets a reference by which it may
    /// change the data.
    pub(crate) fn lend_data<'d, T: ?Sized>(
        &self,
        data: &'d mut T,
        here: Option<CallSite>,
    ) -> &'d mut T {
        let value = plain_word_of(data);
        let Some(peek) = peek_of::<T>() else {
            self.write(here);
            return data;
        };
        let place = std::ptr::from_mut(data);
        with(|log| {
            let word = (self.data(), value);
            if log.is_expecting() {
                self.lend_to_instrumented(log, word, (place.cast_const().cast(), peek), here);
            } else {
                self.word.lend(log, word, here);
            }
        });
        // SAFETY: it is the reference that came in, made from the pointer that is used to look at
        // the word when the access is over.
        unsafe { &mut *place }
    }

    /// As [`lend_data`](Self::lend_data), where instrumented code may say when the change is made.
    #[inline(never)]
    fn lend_to_instrumented(
        &self,
        log: &ThreadLog,
        word: Word,
        (data, peek): (*const (), Peek),
        here: Option<CallSite>,
    ) {
        let updates = match log.use_of_held(here) {
            Some(HeldUse::Write) => false,
            Some(HeldUse::Update) => true,
            // What is done by the reference is not seen.
            Some(HeldUse::Read | HeldUse::Look) | None => {
                log.expect_nothing_of_held();
                return self.word.lend(log, word, here);
            }
        };
        log.say_of_second(|| match updates {
            true => self.word.lend(log, word, here),
            false => self.word.overwrite(log, word, here),
        });
        log.expect_nothing_of_held();
        let (lock, written, found) =
            (std::ptr::from_ref(self).cast(), Self::written_at as _, word.1);
        log.open_held.set(Some(OpenHeld { lock, written, data, peek, updates, found, here }));
    }

    /// The calling thread is about to give the lock back, which it holds exclusively: what it has
    /// written by a reference comes before that.
    #[inline]
    pub(crate) fn end_of_loan<T: ?Sized>(&self, data: &T) {
        // If nothing was recorded of it there is no write to be recorded.
        if peek_of::<T>().is_some() && self.data.is_given() {
            with(|log| {
                log.forget_held(std::ptr::from_ref(self).cast());
                self.word.end_of_loan(log, (self.data(), plain_word_of(data)));
            });
        }
    }

    /// Nothing that this thread has written is still to be recorded when it gives the lock back.
    #[inline]
    pub(crate) fn assert_no_loan(&self, log: &ThreadLog) {
        #[cfg(debug_assertions)]
        assert!(!self.word.is_open(log), "what was written under a lock comes before its release");
        #[cfg(not(debug_assertions))]
        let _ = log;
    }

    /// The thread that has the lock at this address has changed the word that it guards to this.
    ///
    /// # Safety
    ///
    /// It is one of a `GuardedMeta`.
    unsafe fn written_at(lock: *const (), value: Value) {
        // SAFETY: the caller vouches for it.
        let meta = unsafe { &*lock.cast::<Self>() };
        with(|log| meta.word.written(log, (meta.data(), value)));
    }

    /// The data is reached without the lock, through the only reference to it.
    pub(crate) fn exclusive_data<T: ?Sized>(&mut self, data: &T, here: Option<CallSite>) {
        let value = plain_word_of(data);
        if value == Value::Opaque {
            return self.exclusive(here);
        }
        if self.data.is_given() {
            let (word, clock): (Word, u64) = ((self.data(), value), self.lock.clock());
            with(|log| self.word.exclusive(log, word, clock, here));
        }
        self.poison.exclusive(here);
    }

    /// The calling thread, which holds the lock, reads the data, of which nothing more is known.
    pub(crate) fn read(&self, here: Option<CallSite>) {
        with(|log| log.emit_alone(Op::Read { var: self.data(), value: Value::Opaque }, here));
    }

    /// The calling thread, which holds the lock exclusively, changes the data, of which nothing
    /// more is known.
    pub(crate) fn write(&self, here: Option<CallSite>) {
        with(|log| {
            let (var, value) = (self.data(), Value::Opaque);
            log.emit_alone(Op::Read { var, value }, here);
            log.emit_alone(Op::Write { var, value }, here);
        });
    }

    /// The data is reached without the lock, through the only reference to it.
    pub(crate) fn exclusive(&mut self, here: Option<CallSite>) {
        if self.data.is_given() || self.lock.id.is_given() {
            let (var, clock) = (self.data(), self.lock.clock());
            with(|log| {
                let stamp = log.tick(clock);
                log.emit(stamp, Op::Exclusive { var, value: Value::Opaque }, here);
            });
        }
        self.poison.exclusive(here);
    }

    /// The calling thread has just taken the lock, found it poisoned or not, and may act on that.
    #[inline]
    pub(crate) fn found(&self, poisoned: bool, here: Option<CallSite>) {
        if poisoned || self.poison.was_ever() {
            self.poison.found(&self.lock, poisoned, here);
        }
    }

    /// The program asked whether the lock is poisoned, and may go by the answer.
    pub(crate) fn looked(&self, poisoned: bool, here: Option<CallSite>) {
        self.poison.looked(&self.lock, poisoned, here);
    }

    /// The calling thread, which holds the lock exclusively, poisons it. It may have been poisoned
    /// before.
    pub(crate) fn poisons(&self, before: bool, here: Option<CallSite>) {
        self.poison.becomes(&self.lock, true, before, here);
    }

    /// The lock is not poisoned from now on; it may not have been before.
    pub(crate) fn clears_poison(&self, before: bool, here: Option<CallSite>) {
        self.poison.becomes(&self.lock, false, before, here);
    }
}

impl Drop for GuardedMeta {
    fn drop(&mut self) {
        self.exclusive(None);
    }
}
