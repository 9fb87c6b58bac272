//! The counts of an `Arc`, and how their changes are recorded.
//!
//! Each count is a variable of the trace. Both stand under one spin lock, which is held while a
//! count changes and the change is recorded, so that the recorded order is what happened. Nothing
//! of the program runs meanwhile.

use std::panic::RefUnwindSafe;

use crate::rt::{CallSite, CellRecord, NumberedId, Spin, SpinGuard, counters, with};
use crate::sched::{self, Action};
use crate::trace::MemoryOrdering::{self, Acquire, Relaxed, Release};
use crate::trace::{Op, Value, VarId};

/// How many owners there are.
#[derive(Debug)]
pub(super) struct Counts(Spin<Both>);

#[derive(Debug)]
struct Both {
    /// The `Arc`s.
    strong: Count,
    /// The `Weak`s.
    weak: Count,
}

#[derive(Debug)]
struct Count {
    var: NumberedId,
    record: CellRecord,
    value: usize,
}

/// Whether an owner that wants the contents for itself may have them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Claim {
    /// No other owner can reach them.
    Granted,
    /// No other `Arc` is left, but there are `Weak`s. The strong count is now 0: they have lost the
    /// contents, and the caller owns them.
    Taken,
    /// There is another `Arc`.
    Refused,
}

// Nothing that can panic runs while the counts change.
impl RefUnwindSafe for Counts {}

impl Counts {
    pub(super) const fn new(strong: usize, weak: usize) -> Self {
        Self(Spin::new(Both { strong: Count::new(strong), weak: Count::new(weak) }))
    }

    fn lock(&self, action: Action, here: Option<CallSite>) -> SpinGuard<'_, Both> {
        sched::point(action, std::ptr::from_ref(self).addr(), here);
        self.0.lock()
    }

    /// There is one more `Arc`.
    pub(super) fn cloned(&self, here: Option<CallSite>) {
        self.lock(Action::Modify, here).strong.add(Relaxed, here);
    }

    /// There is one `Arc` less. Whether it was the last, and the caller owns the contents.
    pub(super) fn dropped(&self, here: Option<CallSite>) -> bool {
        let mut counts = self.lock(Action::Disconnect, here);
        let left = counts.strong.sub(true, here);
        if left == 0 {
            // Stands for std's fence: the contents go after whatever others did with them.
            counts.strong.look(Acquire, here);
        }
        left == 0
    }

    /// If there is just one `Arc`, there is none from now on, and the caller owns the contents.
    pub(super) fn taken(&self, here: Option<CallSite>) -> bool {
        self.lock(Action::Modify, here).strong.take(here)
    }

    /// Whether no other owner can reach the contents, by an `Arc` or a `Weak`.
    ///
    /// To load one count and then the other would not do for the trace: in another order of the
    /// same events another owner could turn a `Weak` into an `Arc` in between, or the other way
    /// round. So the strong count is 0 while the weak count is looked at, as std's `make_mut` does
    /// it.
    pub(super) fn unique(&self, here: Option<CallSite>) -> bool {
        let mut counts = self.lock(Action::Modify, here);
        if counts.weak.value != 0 {
            counts.weak.look(Acquire, here);
            return false;
        }
        if counts.strong.value != 1 {
            counts.strong.look(Acquire, here);
            return false;
        }
        counts.strong.take(here);
        counts.weak.look(Acquire, here);
        counts.strong.set(1, here);
        true
    }

    /// The caller wants the contents for itself, and leaves the `Weak`s without.
    pub(super) fn claim(&self, here: Option<CallSite>) -> Claim {
        let mut counts = self.lock(Action::Modify, here);
        if !counts.strong.take(here) {
            Claim::Refused
        } else if counts.weak.look(Acquire, here) == 0 {
            counts.strong.set(1, here);
            Claim::Granted
        } else {
            Claim::Taken
        }
    }

    /// The contents of a cyclic `Arc` are there: it is the first.
    pub(super) fn published(&self, here: Option<CallSite>) {
        self.lock(Action::Modify, here).strong.add(Release, here);
    }

    /// There is one more `Weak`, made from an `Arc`.
    pub(super) fn downgraded(&self, here: Option<CallSite>) {
        self.lock(Action::Modify, here).weak.add(Acquire, here);
    }

    /// There is one more `Weak`, made from another.
    pub(super) fn weak_cloned(&self, here: Option<CallSite>) {
        self.lock(Action::Modify, here).weak.add(Relaxed, here);
    }

    /// There is one `Weak` less.
    pub(super) fn weak_dropped(&self, here: Option<CallSite>) {
        self.lock(Action::Disconnect, here).weak.sub(false, here);
    }

    /// There is one more `Arc`, made from a `Weak`, unless there is none any more.
    pub(super) fn upgraded(&self, here: Option<CallSite>) -> bool {
        let mut counts = self.lock(Action::Modify, here);
        let strong = &mut counts.strong;
        if strong.value == 0 {
            strong.look(Relaxed, here);
            return false;
        }
        let (new, ordering) = (strong.value + 1, Some(Acquire));
        strong.change(new, true, here, |var, old, new| Op::Rmw { var, old, new, ordering });
        true
    }

    /// How many `Arc`s there are.
    pub(super) fn strong(&self, here: Option<CallSite>) -> usize {
        self.lock(Action::Load, here).strong.look(Relaxed, here)
    }

    /// How many `Weak`s there are.
    pub(super) fn weak(&self, here: Option<CallSite>) -> usize {
        self.lock(Action::Load, here).weak.look(Relaxed, here)
    }

    /// How many `Weak`s there are, if there is an `Arc`.
    pub(super) fn weak_of_living(&self, here: Option<CallSite>) -> usize {
        let mut counts = self.lock(Action::Load, here);
        let weak = counts.weak.look(Acquire, here);
        if counts.strong.look(Relaxed, here) == 0 { 0 } else { weak }
    }
}

impl Count {
    const fn new(value: usize) -> Self {
        Self { var: NumberedId::new(), record: CellRecord::new(), value }
    }

    /// One more. Nothing depends on how many there were.
    fn add(&mut self, ordering: MemoryOrdering, here: Option<CallSite>) {
        let ordering = Some(ordering);
        let new = self.value + 1;
        self.change(new, false, here, |var, old, new| Op::Rmw { var, old, new, ordering });
    }

    /// One less; returns how many are left. If `decides`, it decides what the thread does that none
    /// is left. That some are does not: as long as the last one has its place, the others come
    /// before it.
    fn sub(&mut self, decides: bool, here: Option<CallSite>) -> usize {
        let ordering = Some(Release);
        let new = self.value - 1;
        let decision = decides && new == 0;
        self.change(new, decision, here, |var, old, new| Op::Rmw { var, old, new, ordering });
        new
    }

    /// From 1 to 0, if it is 1.
    fn take(&mut self, here: Option<CallSite>) -> bool {
        if self.value == 1 {
            let ordering = Some(Acquire);
            self.change(0, true, here, |var, old, new| Op::Cas { var, old, new, ordering });
            return true;
        }
        let (ordering, same) = (Some(Relaxed), self.value);
        self.change(same, true, here, |var, seen, _| Op::CasFail { var, seen, ordering });
        false
    }

    fn set(&mut self, new: usize, here: Option<CallSite>) {
        let ordering = Some(Release);
        self.change(new, false, here, |var, _, value| Op::Store { var, value, ordering });
    }

    /// The program is told the count, and may go by it.
    fn look(&mut self, ordering: MemoryOrdering, here: Option<CallSite>) -> usize {
        let (ordering, same) = (Some(ordering), self.value);
        self.change(same, true, here, |var, value, _| Op::Load { var, value, ordering });
        same
    }

    /// The count becomes `new`; `op` says how, given the variable, the old value and the new.
    fn change(
        &mut self,
        new: usize,
        decision: bool,
        here: Option<CallSite>,
        op: impl FnOnce(VarId, Value, Value) -> Op,
    ) {
        let (before, after) = (Value::Nat(self.value as u128), Value::Nat(new as u128));
        with(|log| {
            let var = VarId::new(self.var.get(&counters::VARS));
            self.record.found(log, var, before, here);
            let stamp = log.tick(self.record.clock);
            self.record.clock = stamp;
            let op = op(var, before, after);
            if decision {
                log.emit_decision(stamp, op, here);
            } else {
                log.emit(stamp, op, here);
            }
            self.record.left(after);
        });
        self.value = new;
    }
}
