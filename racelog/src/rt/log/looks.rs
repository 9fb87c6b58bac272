//! Looks that a thread repeats, as loops do that wait for a change: they are one event with a
//! count, which the thread's next event says.
//!
//! A look is a load, or a compare-exchange that fails. One that follows the same look of the same
//! thread, with nothing in between but the branch that the first has brought, while nobody has
//! written, finds the same and says nothing new: in whatever order the first can be, the second can
//! stand right behind it.
//!
//! Of looks that take turns, such as those of a loop that waits for either of two flags, that is
//! not so: the second look at the first flag comes after the first look at the second, and the
//! order in which the two change may depend on that. They are recorded one by one.

use std::cell::Cell;

use super::thread_log::{REPEATED, ThreadLog};
use crate::rt::base::call_site::CallSite;
use crate::rt::base::control;
use crate::trace::binary::code::code_of;
use crate::trace::{Op, Said, VarId};

/// The last look of a thread, and how often it was repeated.
#[derive(Default)]
pub(in crate::rt) struct Looks {
    last: Cell<Option<Look>>,
    stamp: Cell<u64>,
    /// The stamp of the last event, if that is the look or the branch that follows it.
    until: Cell<u64>,
    again: Cell<u64>,
}

/// A look at a variable: with what operation and ordering, and where in the program.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Look {
    var: VarId,
    code: u8,
    here: usize,
}

impl Look {
    #[inline(always)]
    fn of(var: VarId, op: &Op, here: Option<CallSite>) -> Self {
        Self { var, code: code_of(op), here: here.map_or(0, CallSite::key) }
    }
}

impl ThreadLog {
    /// Whether the thread repeats its last look, of a variable that was last changed then: it is
    /// counted, and is no event.
    #[inline]
    pub(crate) fn looks_again(
        &self,
        var: VarId,
        op: &Op,
        here: Option<CallSite>,
        changed: u64,
    ) -> bool {
        let again = self.looks.last.get() == Some(Look::of(var, op, here))
            && self.looks.until.get() == self.clock()
            && changed < self.looks.stamp.get()
            && self.may_count_looks();
        if again {
            self.count_look();
        }
        again
    }

    /// Whether a replay need not see all of them, and nothing is said of their values.
    fn may_count_looks(&self) -> bool {
        !self.foreign && !self.watched && !self.saying.is_any() && !control::controls_thread()
    }

    #[cold]
    #[inline(never)]
    fn count_look(&self) {
        let again = self.looks.again.get();
        self.looks.again.set(again + 1);
        if again == 0 {
            self.mark(REPEATED, true);
        }
    }

    /// The thread has recorded a look, with this stamp.
    #[inline]
    pub(crate) fn looked(&self, var: VarId, op: &Op, here: Option<CallSite>, stamp: u64) {
        self.looks.last.set(Some(Look::of(var, op, here)));
        self.looks.stamp.set(stamp);
        self.looks.until.set(stamp);
    }

    /// A branch has this stamp, and the event before it that.
    #[inline(always)]
    pub(super) fn branched(&self, before: u64, stamp: u64) {
        if self.looks.until.get() == before {
            self.looks.until.set(stamp);
        }
    }

    /// What the next event has to say of looks that were repeated before it.
    pub(super) fn take_again(&self) -> Option<Said> {
        let again = self.looks.again.replace(0);
        (again > 0).then(|| {
            self.mark(REPEATED, false);
            Said::Again(again)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

    use crate::child_trace::{in_child, items};
    use crate::instrument::HOOKS;
    use crate::rt::{Expected, with};
    use crate::sync::atomic::AtomicBool;
    use crate::thread;
    use crate::trace::{Item, Said, ThreadId};

    /// What a thread did, with how often it looked again.
    fn words(test: &str, thread: u32) -> String {
        let mut words = Vec::new();
        for item in items(&format!("rt::log::looks::tests::{test}")) {
            match item {
                Item::Said { said: Said::Again(times), thread: by } if by.get() == thread => {
                    words.push(format!("+{times}"));
                }
                Item::Event(event) if event.thread == ThreadId::new(thread) => {
                    words.push(event.op.keyword().to_owned());
                }
                _ => {}
            }
        }
        // It finds what its closure brings along, and says what that leaves behind.
        let words = words.join(" ");
        let body =
            words.strip_prefix("begin load ").and_then(|it| it.strip_suffix(" store arrive end"));
        body.unwrap_or(&words).to_owned()
    }

    /// Runs it in a thread that recorded code has started: one of libtest's keeps its place in time.
    fn in_recorded_thread(body: impl FnOnce() + Send) {
        thread::scope(|scope| {
            scope.spawn(body);
        });
    }

    #[test]
    fn looks_that_are_repeated_are_one_event_with_a_count() {
        if in_child() {
            let (flag, other) = (AtomicBool::new(false), AtomicBool::new(true));
            return in_recorded_thread(|| {
                for _ in 0..5 {
                    flag.load(Acquire);
                }
                // Another place in the program, and another ordering.
                flag.load(Acquire);
                for ordering in [Acquire, Acquire, Relaxed] {
                    flag.load(ordering);
                }
                // These take turns.
                for _ in 0..2 {
                    flag.load(Acquire);
                    other.load(Acquire);
                }
                for _ in 0..4 {
                    let _ = flag.compare_exchange(true, false, Acquire, Relaxed);
                }
            });
        }
        let found = words("looks_that_are_repeated_are_one_event_with_a_count", 1);
        let expected = "load +4 load load +1 load load load load load cas_fail +3";
        assert_eq!(found, expected);
    }

    #[test]
    fn the_branch_that_a_look_brings_is_repeated_with_it() {
        if in_child() {
            let flag = AtomicBool::new(false);
            return in_recorded_thread(|| {
                for _ in 0..4 {
                    // As instrumented code does at one place.
                    with(|log| log.expect(Expected::Bare));
                    flag.load(Acquire);
                    with(|log| log.expect(Expected::Nothing));
                    HOOKS.branch();
                }
                flag.store(true, Release);
            });
        }
        let found = words("the_branch_that_a_look_brings_is_repeated_with_it", 1);
        assert_eq!(found, "load branch +3 store");
    }

    #[test]
    fn a_write_in_between_is_noticed_though_it_leaves_what_was_there() {
        if in_child() {
            let flag = AtomicBool::new(false);
            let turn = Barrier::new(2);
            thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..3 {
                        flag.load(Acquire);
                        turn.wait();
                        turn.wait();
                    }
                });
                turn.wait();
                flag.store(false, Release);
                turn.wait();
                turn.wait();
                // Who looks writes nothing.
                flag.load(Acquire);
                turn.wait();
                turn.wait();
                turn.wait();
            });
            return;
        }
        let test = "a_write_in_between_is_noticed_though_it_leaves_what_was_there";
        assert_eq!(words(test, 1), "load load +1");
    }
}
