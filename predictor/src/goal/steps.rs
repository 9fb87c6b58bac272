//! Two accesses of a thread that are meant to be one step, and whose access may not come between.
//!
//! The program may say so, by a region that it marks. Of other steps the trace tells, as follows.
//!
//! - *A critical section.* Two atomic accesses of a variable are in one, in which the thread does
//!   not wait, and the access of the other thread, atomic as well, is in none of that lock. (Of
//!   plain accesses that is a race, and reported as such.) Chao Wang, Sudipta Kundu, Rhishikesh
//!   Limaye, Malay Ganai and Aarti Gupta, "Symbolic Predictive Analysis for Concurrent Programs"
//!   (Table 3) take every `synchronized` block for a region.
//! - *A read that a write depends on*, in two critical sections of one lock, or as load and store
//!   of one atomic. That it depends is proven by the trace: the expression of what is written names
//!   the read, or the condition of a branch in between does. Without such a proof a dependence can
//!   be assumed, if that is asked for.
//!
//! Whoever looks again acts by what is found then. So a compare-exchange ends no step that is not
//! marked, nor does one go on after it; and a later read ends what was decided by an earlier one.
//! Locks and accesses that the recorder has added are none of the program's.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use racelog::trace::{LockEffect, LockId, ThreadId, VarId};
use rustc_hash::FxHashMap;

use super::atomicity::is_violation;
use super::{GoalKind, GoalKinds};
use crate::trace::{EventId, Op, Trace};

/// So many accesses of a variable are kept in mind within a critical section.
const KEPT: usize = 64;

/// Why two accesses are taken for one step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Meant {
    /// The program marks the region that both are in.
    Marked,
    /// The trace shows that one belongs to the other.
    Inferred,
    /// The second may depend on the first, and nothing shows that it does.
    Assumed,
}

impl Meant {
    /// The kind of a violation of such a step.
    pub const fn kind(self) -> GoalKind {
        match self {
            Self::Marked => GoalKind::Atomicity,
            Self::Inferred => GoalKind::InferredAtomicity,
            Self::Assumed => GoalKind::AssumedAtomicity,
        }
    }
}

/// Two accesses of one variable by one thread that are meant to be one step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) first: EventId,
    pub(crate) last: EventId,
    pub(crate) meant: Meant,
    between: Between,
}

/// Which accesses of other threads must not come between.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Between {
    /// All that no serial order explains.
    Any,
    /// The atomic ones among them whose thread does not hold one of these locks.
    Without(Box<[LockId]>),
    /// Atomic writes.
    AtomicWrites,
    /// Writes whose thread holds one of these locks.
    WritesWith(Box<[LockId]>),
}

impl Step {
    /// Whether an access of another thread must not come between.
    pub(crate) fn is_broken_by(&self, trace: &Trace, between: EventId) -> bool {
        if !is_violation(trace, self.first, between, self.last) {
            return false;
        }
        let op = trace.op(between);
        let holds = |lock: &LockId| holds(trace, between, *lock);
        match &self.between {
            Between::Any => true,
            Between::Without(locks) => op.is_atomic() && !locks.iter().all(holds),
            Between::AtomicWrites => op.is_atomic() && op.writes(),
            Between::WritesWith(locks) => op.writes() && locks.iter().any(holds),
        }
    }
}

/// The steps of a trace, by the first access of each.
pub(crate) type Steps = BTreeMap<EventId, Vec<Step>>;

/// All steps of a trace of which violations are goals of these kinds.
pub(crate) fn steps(trace: &Trace, kinds: GoalKinds) -> Steps {
    let mut all = Steps::new();
    for thread in trace.threads() {
        of_thread(trace, thread, kinds, |step| all.entry(step.first).or_default().push(step));
    }
    all
}

/// The step that has these two accesses, if they are meant to be one for that reason.
pub(crate) fn step(trace: &Trace, first: EventId, last: EventId, meant: Meant) -> Option<Step> {
    if first >= last || trace.thread(first) != trace.thread(last) {
        return None;
    }
    let mut found = None;
    if meant == Meant::Marked {
        let marked = is_marked(trace, first, last);
        found = marked.then_some(Step { first, last, meant, between: Between::Any });
    } else {
        let kinds = GoalKinds::NONE.with(meant.kind());
        of_thread(trace, trace.thread(first), kinds, |step| {
            if (step.first, step.last) == (first, last) {
                found = Some(step);
            }
        });
    }
    found
}

/// Whether any of these kinds is about such steps.
pub(crate) fn are_wanted(kinds: GoalKinds) -> bool {
    [Meant::Marked, Meant::Inferred, Meant::Assumed].iter().any(|it| kinds.contains(it.kind()))
}

/// Calls `each` with the steps of a thread.
fn of_thread(trace: &Trace, thread: ThreadId, kinds: GoalKinds, mut each: impl FnMut(Step)) {
    if kinds.contains(GoalKind::Atomicity) {
        marked(trace, thread, &mut each);
    }
    let wanted = |meant: Meant| kinds.contains(meant.kind());
    let infers = wanted(Meant::Inferred) && (trace.has_data() || trace.has_atomics());
    if infers || wanted(Meant::Assumed) {
        let mut walk = Walk::new(trace);
        for event in trace.events_of_thread(thread) {
            walk.take(*event, |step| {
                if wanted(step.meant) {
                    each(step);
                }
            });
        }
    }
}

/// Calls `each` with the steps that the program marks.
fn marked(trace: &Trace, thread: ThreadId, each: &mut impl FnMut(Step)) {
    if !trace.has_atomic_regions() {
        return;
    }
    let mut open: BTreeMap<VarId, Vec<EventId>> = BTreeMap::new();
    let mut region = None;
    for event in trace.events_of_thread(thread) {
        let here = trace.atomic_region(*event);
        if here != region {
            open.clear();
            region = here;
        }
        let op = trace.op(*event);
        let Some(var) = op.var().filter(|_| here.is_some() && !op.is_exclusive()) else {
            continue;
        };
        let earlier = open.entry(var).or_default();
        for first in &*earlier {
            let (first, last, meant) = (*first, *event, Meant::Marked);
            each(Step { first, last, meant, between: Between::Any });
        }
        earlier.push(*event);
    }
}

/// A critical section that a thread is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Section {
    lock: LockId,
    /// The event that took the lock.
    begin: EventId,
    /// How many times the thread had given the lock back to wait before.
    waits: u32,
    /// How many times the lock is held.
    times: u32,
}

impl Section {
    /// Whether two looks at the locks of a thread have seen the same section.
    fn is(&self, other: &Self) -> bool {
        (self.lock, self.begin) == (other.lock, other.begin)
    }
}

/// What a walk along a thread has in mind of an access.
#[derive(Clone, Debug)]
struct Look {
    event: EventId,
    sections: Rc<[Section]>,
}

/// A walk along the events of a thread, which finds the steps that are not marked.
struct Walk<'a> {
    trace: &'a Trace,
    sections: Rc<[Section]>,
    waits: FxHashMap<LockId, u32>,
    /// The atomic accesses of each variable in the sections that are open.
    inside: FxHashMap<VarId, VecDeque<Look>>,
    /// The reads that expressions may name, by themselves.
    named: FxHashMap<EventId, Rc<[Section]>>,
    /// The reads that the last branch on each variable names, if it was not read since.
    decided: FxHashMap<VarId, Vec<Look>>,
    /// The last read of each variable, if nothing has been written since.
    last_read: FxHashMap<VarId, Look>,
    /// The last compare-exchange of each variable.
    exchanged: FxHashMap<VarId, EventId>,
    /// The last branch whose condition is not known.
    decided_anyhow: Option<EventId>,
}

impl<'a> Walk<'a> {
    fn new(trace: &'a Trace) -> Self {
        Self {
            trace,
            sections: Rc::from([]),
            waits: FxHashMap::default(),
            inside: FxHashMap::default(),
            named: FxHashMap::default(),
            decided: FxHashMap::default(),
            last_read: FxHashMap::default(),
            exchanged: FxHashMap::default(),
            decided_anyhow: None,
        }
    }

    fn take(&mut self, event: EventId, mut each: impl FnMut(Step)) {
        let (trace, op) = (self.trace, self.trace.op(event));
        let is_decided =
            trace.data(event).is_some_and(|data| data.is.is_some() || data.expects.is_some());
        if trace.is_guarded(event) || (op.decides() && !is_decided) {
            self.decided_anyhow = Some(event);
        }
        if let Op::Branch = op {
            self.branch(event);
        } else if op.lock_use().is_some() {
            self.lock(event, &op);
        } else if let Some(var) = op.var().filter(|var| !trace.is_mixed(*var)) {
            if op.is_exclusive() {
                self.forget(var);
            } else if self.is_of_program(event) {
                self.access(event, &op, var, &mut each);
            }
        }
    }

    /// Whether the program does an access, as far as can be seen: what the recorder adds of itself
    /// has no place in the source.
    fn is_of_program(&self, event: EventId) -> bool {
        self.trace.metadata().program.is_none() || self.trace.location(event).is_some()
    }

    fn forget(&mut self, var: VarId) {
        self.inside.remove(&var);
        self.decided.remove(&var);
        self.last_read.remove(&var);
    }

    fn lock(&mut self, event: EventId, op: &Op) {
        let Some(used) = op.lock_use() else { return };
        let once = matches!(op, Op::OnceBegin(_) | Op::OnceEnd(_) | Op::OnceWait(_));
        if once || !self.trace.is_of_program(used.lock) {
            return;
        }
        let mut sections = self.sections.to_vec();
        let at = sections.iter().position(|section| section.lock == used.lock);
        match (used.effect, at) {
            (LockEffect::Takes, Some(at)) => sections[at].times += 1,
            (LockEffect::Takes, None) => {
                let waits = self.waits.get(&used.lock).copied().unwrap_or(0);
                sections.push(Section { lock: used.lock, begin: event, waits, times: 1 });
            }
            (LockEffect::GivesBack, Some(at)) => {
                sections[at].times -= 1;
                if sections[at].times == 0 {
                    sections.remove(at);
                }
                if let Op::Wait { .. } = op {
                    *self.waits.entry(used.lock).or_default() += 1;
                }
            }
            (LockEffect::GivesBack, None) | (LockEffect::FindsFree | LockEffect::FindsTaken, _) => {
                return;
            }
        }
        self.sections = sections.into();
        if self.sections.is_empty() {
            self.inside.clear();
        }
    }

    /// A branch on reads of a variable takes the place of one on earlier reads of it.
    fn branch(&mut self, event: EventId) {
        let condition = self.trace.data(event).and_then(|data| data.is.as_ref());
        let Some(condition) = condition else { return };
        let mut named: BTreeMap<VarId, Vec<Look>> = BTreeMap::new();
        for read in condition.reads() {
            let var = self.trace.op(*read).var();
            if let Some((var, sections)) = var.zip(self.named.get(read)) {
                let look = Look { event: *read, sections: sections.clone() };
                named.entry(var).or_default().push(look);
            }
        }
        for (var, looks) in named {
            let last = looks.iter().map(|look| look.event).max();
            let known = self.decided.get(&var).into_iter().flatten();
            if known.map(|look| look.event).max() <= last {
                self.decided.insert(var, looks);
            }
        }
    }

    fn access(&mut self, event: EventId, op: &Op, var: VarId, each: &mut impl FnMut(Step)) {
        let exchanges = matches!(op, Op::Cas { .. } | Op::CasFail { .. });
        if !exchanges {
            self.end_section(event, op, var, each);
            if op.writes() {
                self.write(event, op, var, each);
            }
        }
        let look = Look { event, sections: self.sections.clone() };
        if let Op::Cas { .. } = op {
            self.forget(var);
            self.exchanged.insert(var, event);
        }
        if op.is_atomic() && !self.sections.is_empty() {
            let inside = self.inside.entry(var).or_default();
            inside.push_back(look.clone());
            if inside.len() > KEPT {
                inside.pop_front();
            }
        }
        if op.reads() {
            self.decided.remove(&var);
            if self.trace.data(event).is_some_and(|data| data.found.is_some()) {
                self.named.insert(event, look.sections.clone());
            }
            self.last_read.insert(var, look);
        } else {
            self.last_read.remove(&var);
        }
    }

    /// The steps that an atomic access ends with earlier ones of the same critical section.
    fn end_section(&mut self, last: EventId, op: &Op, var: VarId, each: &mut impl FnMut(Step)) {
        if !op.is_atomic() {
            return;
        }
        let (trace, sections) = (self.trace, &self.sections);
        let Some(inside) = self.inside.get_mut(&var) else { return };
        inside.retain(|look| !common(look, sections).is_empty());
        for look in inside.iter().filter(|look| !is_marked(trace, look.event, last)) {
            let between = Between::Without(common(look, sections).into());
            each(Step { first: look.event, last, meant: Meant::Inferred, between });
        }
    }

    /// The steps that a write ends with reads that it depends on.
    fn write(&mut self, last: EventId, op: &Op, var: VarId, each: &mut impl FnMut(Step)) {
        let trace = self.trace;
        let data = trace.data(last);
        let written = data.and_then(|data| data.is.as_ref());
        let mut proven: Vec<Look> = Vec::new();
        for read in written.map_or(&[][..], |written| written.reads()) {
            if let (true, Some(sections)) =
                (trace.op(*read).var() == Some(var), self.named.get(read))
            {
                proven.push(Look { event: *read, sections: sections.clone() });
            }
        }
        proven.extend(self.decided.get(&var).into_iter().flatten().cloned());
        proven.sort_by_key(|look| look.event);
        proven.dedup_by_key(|look| look.event);
        // An update of what it finds itself looks again.
        let is_known = written.is_some() && data.is_some_and(|data| data.since.is_none());
        let assumed = self.last_read.get(&var).filter(|look| {
            let decided = self.decided_anyhow.is_some_and(|branch| branch > look.event);
            !op.reads()
                && (decided || !is_known)
                && proven.iter().all(|other| other.event != look.event)
        });
        let proven = proven.iter().map(|look| (look, Meant::Inferred));
        let assumed = assumed.map(|look| (look, Meant::Assumed));
        for (look, meant) in proven.chain(assumed) {
            let first = look.event;
            let exchanged = self.exchanged.get(&var).is_some_and(|exchange| *exchange > first);
            let between = self.between(look, op);
            if let (Some(between), false, false) = (between, exchanged, first == last)
                && !is_marked(trace, first, last)
            {
                each(Step { first, last, meant, between });
            }
        }
    }

    /// Which accesses must not come between a read and a write that depends on it; none if the two
    /// are in no relation that makes them a step.
    fn between(&self, read: &Look, write: &Op) -> Option<Between> {
        let same = common(read, &self.sections);
        match (self.trace.op(read.event).is_atomic(), write.is_atomic()) {
            // Found with the other steps of that section.
            (true, true) if !same.is_empty() => None,
            (true, true) => Some(Between::AtomicWrites),
            (false, false) => {
                let again = |now: &&Section| {
                    let before = read.sections.iter().find(|before| before.lock == now.lock);
                    before.is_some_and(|before| !before.is(now) && before.waits == now.waits)
                };
                let locks = self.sections.iter().filter(again).map(|section| section.lock);
                let locks: Box<[LockId]> = locks.collect();
                (!locks.is_empty()).then_some(Between::WritesWith(locks))
            }
            _ => None,
        }
    }
}

/// The locks of the sections that a thread was in at an access and still is.
fn common(look: &Look, sections: &[Section]) -> Vec<LockId> {
    let still = |now: &&Section| look.sections.iter().any(|before| before.is(now));
    sections.iter().filter(still).map(|section| section.lock).collect()
}

/// Whether the program marks a region that has both accesses.
pub(super) fn is_marked(trace: &Trace, first: EventId, last: EventId) -> bool {
    let region = trace.atomic_region(first);
    region.is_some() && region == trace.atomic_region(last)
}

/// Whether the thread of an event holds a lock there.
fn holds(trace: &Trace, event: EventId, lock: LockId) -> bool {
    let thread = trace.thread(event);
    let events = trace.events_of_lock(lock);
    let before = events.partition_point(|other| *other < event);
    let mut given_back = 0;
    for other in events[..before].iter().rev().filter(|other| trace.thread(**other) == thread) {
        match trace.op(*other).lock_use().map(|used| used.effect) {
            Some(LockEffect::GivesBack) => given_back += 1,
            Some(LockEffect::Takes) if given_back == 0 => return true,
            Some(LockEffect::Takes) => given_back -= 1,
            Some(LockEffect::FindsFree | LockEffect::FindsTaken) | None => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps of a trace that are not marked, and what breaks them.
    fn broken(text: &str) -> Vec<(Meant, [u64; 3])> {
        let trace: Trace = text.parse().expect("the trace is valid");
        let kinds = GoalKinds::ALL.with(GoalKind::AssumedAtomicity);
        let mut found = Vec::new();
        for step in steps(&trace, kinds).into_values().flatten() {
            let again = self::step(&trace, step.first, step.last, step.meant);
            assert_eq!(again.as_ref(), Some(&step));
            let breaks = trace.events().filter(|event| step.is_broken_by(&trace, *event));
            let numbers = |between| [step.first, between, step.last].map(EventId::number);
            found.extend(breaks.map(|between| (step.meant, numbers(between))));
        }
        found
    }

    #[test]
    fn a_write_that_depends_on_a_read_under_an_earlier_hold_of_the_lock() {
        let text = |write: &str| {
            format!(
                "t1 acquire l\nt1 read x 0 -> a\nt1 release l\nt1 acquire l\n{write}\n\
                 t1 release l\nt2 acquire l\nt2 write x 7\nt2 release l\nt2 write x 8\n"
            )
        };
        // What is written without the lock is a race.
        let expression = broken(&text("t1 write x 1 := a + 1"));
        assert_eq!(expression, [(Meant::Inferred, [2, 8, 5])]);
        let branch = broken(&text("t1 branch a == 0\nt1 write x 1"));
        assert_eq!(branch, [(Meant::Inferred, [2, 9, 6])]);
        let other = broken(&text("t1 branch\nt1 write x 1"));
        assert_eq!(other, [(Meant::Assumed, [2, 9, 6])]);
        let since = broken(&text("t1 write x 1 := 1 since 2"));
        assert_eq!(since, [(Meant::Assumed, [2, 8, 5])]);
        assert_eq!(broken(&text("t1 write x 1 := 1")), []);
    }

    #[test]
    fn who_looks_again_acts_by_what_is_found_then() {
        let again = "t1 acquire l\nt1 read x 0 -> a\nt1 release l\nt1 branch a == 0\nt1 acquire l\n\
                     t1 read x 0 -> b\nt1 branch b == 0\nt1 write x 1\nt1 release l\nt2 acquire l\n\
                     t2 write x 2\nt2 release l\n";
        assert_eq!(broken(again), []);
        let exchange = "t1 load x 0 -> a\nt1 cas x 0 5\nt1 store x 1 := a + 1\nt2 store x 7\n";
        assert_eq!(broken(exchange), []);
        let wait = "t1 acquire l\nt1 read x 0 -> a\nt1 wait c l\nt2 acquire l\nt2 write x 1\n\
                    t2 notify_one c\nt2 release l\nt1 wake c l\nt1 write x 2 := a + 2\n\
                    t1 release l\n";
        assert_eq!(broken(wait), []);
    }

    #[test]
    fn a_load_and_a_store_that_depends_on_it() {
        let text = "t1 load x 0 -> a\nt1 store x 1 := a + 1\nt2 store x 7\nt2 load x 7\n";
        assert_eq!(broken(text), [(Meant::Inferred, [1, 3, 2])]);
        let update = "t1 load x 1 -> a\nt1 branch a > 0\nt1 rmw x 1 0\nt2 store x 7\n";
        let update = format!("init x 1\n{update}");
        assert_eq!(broken(&update), [(Meant::Inferred, [1, 4, 3])]);
        let exchange = "t1 load x 0 -> a\nt1 branch a == 0\nt1 cas x 0 1\nt2 store x 7\n";
        assert_eq!(broken(exchange), []);
    }

    #[test]
    fn two_atomic_accesses_in_one_critical_section() {
        let text = "t1 acquire l\nt1 load x 0\nt1 load x 0\nt1 release l\nt2 store x 7\n\
                    t2 acquire l\nt2 store x 8\nt2 release l\n";
        assert_eq!(broken(text), [(Meant::Inferred, [2, 5, 3])]);
        let plain = text.replace("load", "read");
        assert_eq!(broken(&plain), [], "that is a race");
        let marked = "t1 atomic_begin\nt1 acquire l\nt1 load x 0\nt1 load x 0\nt1 release l\n\
                      t1 atomic_end\nt2 store x 7\n";
        assert_eq!(broken(marked), [(Meant::Marked, [3, 7, 4])]);
    }
}
