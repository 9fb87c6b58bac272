//! What all detectors say of one finding, told as one.

use std::cell::OnceCell;

use racelog::trace::{LockId, Object};

use super::Detector;
use super::blame::lost_notifications;
use super::hang;
use super::standstill::{self, EndState};
use crate::finding::{
    Describer, Finding, Kind, Occurrence, PackedWitness, Part, Reason, Role, WeakAccess,
};
use crate::goal::{Circle, Goal, Meant, Pair, Stall, Violation};
use crate::order::{WeakLink, weak_links};
use crate::predict::{Proof, Proven};
use crate::semantics::Replay;
use crate::trace::{EventId, Op, Trace};
use crate::witness::Checker;

/// What all detectors say of one finding.
pub(super) struct Merged {
    pub(super) goal: Goal,
    pub(super) proven: Option<Proven>,
    pub(super) detectors: Vec<Detector>,
    /// The goal that happens-before leaves unordered.
    pub(super) unordered: Option<Goal>,
}

impl Merged {
    pub(super) const fn new(goal: Goal) -> Self {
        Self { goal, proven: None, detectors: Vec::new(), unordered: None }
    }
}

/// Makes findings of what was found in a trace.
pub(super) struct Teller<'a> {
    trace: &'a Trace,
    /// What the trace is called.
    name: &'a str,
    /// What the solver is called.
    solver: &'a str,
    /// Made for the first finding that asks for a state: races do not.
    checker: OnceCell<Checker<'a>>,
    describer: Describer<'a>,
}

/// What is said of a finding: what it is, what takes part, and why.
struct Told {
    kind: Kind,
    parts: Vec<Part>,
    reason: Reason,
}

impl<'a> Teller<'a> {
    pub(super) fn new(trace: &'a Trace, name: &'a str, solver: &'a str) -> Self {
        let (checker, describer) = (OnceCell::new(), Describer::new(trace));
        Self { trace, name, solver, checker, describer }
    }

    /// The hang of the recorded run, if it is one.
    pub(super) fn hang(&mut self) -> Option<Finding> {
        hang::find(self.trace, self.name, &mut self.describer)
    }

    /// The kind of what was found, and where it occurs.
    pub(super) fn tell(&mut self, mut found: Merged) -> (Kind, Occurrence) {
        let Told { kind, parts, reason } = match &found.goal {
            Goal::Race(pair) => self.race(*pair, &found),
            Goal::Deadlock(circle) => self.deadlock(circle, &found),
            Goal::Stall(stall) => self.stall(stall, &found),
            Goal::SendToNobody(send) => self.send(*send, &found),
            Goal::FailedCheck(check) => self.check(Kind::FailedCheck, *check, &found),
            Goal::Panic(check) => self.check(Kind::Panic, *check, &found),
            Goal::Atomicity(violation) => self.violation(violation),
        };
        if found.proven.is_some() {
            found.detectors.sort_by_key(|detector| *detector != Detector::Mcm);
        }
        let proven = found.proven.as_ref();
        let solver = proven.filter(|it| it.proof == Proof::Solver).map(|_| self.solver.to_owned());
        // All events of a goal that is about a variable access it.
        let subject = found.goal.events().next().and_then(|event| self.describer.variable(event));
        let pack = |proven: &Proven| PackedWitness::pack(self.trace, proven.witness.schedule());
        let occurrence = Occurrence {
            trace: self.name.to_owned(),
            parts,
            subject,
            reason,
            detectors: found.detectors.iter().map(|detector| detector.name().to_owned()).collect(),
            solver,
            seconds: proven.map(|proven| proven.time.as_secs_f64()),
            witness: proven.map(pack),
            steps: Vec::new(),
            left_out: 0,
            also: Vec::new(),
            directed: None,
            replay: None,
        };
        (kind, occurrence)
    }

    /// A schedule counts most. Happens-before says what this very run has; the others may be wrong.
    fn race(&mut self, pair: Pair, found: &Merged) -> Told {
        let kind = match (&found.proven, &found.unordered) {
            (Some(_), _) => Kind::DataRace,
            (None, Some(_)) => Kind::UnorderedRace,
            (None, None) => Kind::SuspectedRace,
        };
        let parts = pair.events().iter().map(|event| self.describer.part(*event, Role::Next));
        let parts = parts.collect();
        Told { kind, parts, reason: self.why_race(pair, found) }
    }

    fn why_race(&mut self, pair: Pair, found: &Merged) -> Reason {
        let (trace, describer) = (self.trace, &mut self.describer);
        if let (None, Some(_)) = (&found.proven, &found.unordered) {
            let links = weak_links(trace, pair);
            if !links.is_empty() {
                return too_weak(trace, &links, describer);
            }
        }
        if found.unordered.as_ref() == Some(&found.goal) {
            return Reason::Unordered;
        }
        if found.proven.is_none() {
            return Reason::NoOrderFound { detector: found.detectors[0].name().to_owned() };
        }
        let locks = ordering_locks(trace, pair).into_iter();
        let locks = locks.map(|lock| describer.name(Object::Lock(lock))).collect();
        Reason::Reordered { locks }
    }

    fn deadlock(&mut self, circle: &Circle, found: &Merged) -> Told {
        let mut parts = standstill::circle(self.trace, circle, &mut self.describer);
        let checker = self.checker.get_or_init(|| Checker::new(self.trace));
        let witness = found.proven.as_ref().map(|proven| &proven.witness);
        if let Some(end) = witness.and_then(|witness| EndState::of(checker, witness)) {
            parts.extend(end.others(circle.events(), &mut self.describer));
        }
        let reason = match (&found.proven, circle.is_fair()) {
            (Some(_), true) => Reason::CircleOfWaitingWriters,
            (Some(_), false) => Reason::Circle,
            (None, _) => Reason::LockOrder,
        };
        let kind = match &found.proven {
            Some(_) => Kind::Deadlock,
            None => Kind::SuspectedDeadlock,
        };
        Told { kind, parts, reason }
    }

    fn stall(&mut self, stall: &Stall, found: &Merged) -> Told {
        let checker = self.checker.get_or_init(|| Checker::new(self.trace));
        let (roots, describer) = (stall.roots(), &mut self.describer);
        let witness = found.proven.as_ref().map(|proven| &proven.witness);
        let lost = witness.map(|witness| lost_notifications(checker.machine(), witness, roots));
        let lost = lost.unwrap_or_default();
        let (kind, reason) = match lost.is_empty() {
            true => (Kind::Stall, Reason::NobodyLeft),
            false => (Kind::LostWakeup, Reason::LostNotification),
        };
        let end = witness.and_then(|witness| EndState::of(checker, witness));
        let mut parts: Vec<Part> = match &end {
            Some(end) => end.waiting(roots, describer),
            None => roots.iter().map(|root| describer.part(*root, Role::Next)).collect(),
        };
        parts
            .extend(lost.into_iter().map(|lost| describer.part_on(lost.event, lost.role, lost.on)));
        if let Some(end) = end {
            parts.extend(end.others(roots, describer));
        }
        Told { kind, parts, reason }
    }

    fn send(&mut self, send: EventId, found: &Merged) -> Told {
        let (trace, describer) = (self.trace, &mut self.describer);
        let parts = match trace.op(send) {
            Op::Send { channel, .. } => {
                let prefix = found.proven.iter().flat_map(|proven| proven.witness.prefix());
                let drops = prefix.filter(|event| trace.op(*event) == Op::ReceiverClose(channel));
                let drops = drops.map(|event| (event, Role::Dropped));
                let events = std::iter::once((send, Role::Next)).chain(drops);
                let object = Object::Channel(channel);
                events.map(|(event, role)| describer.part_on(event, role, object)).collect()
            }
            _ => vec![describer.part(send, Role::Next)],
        };
        Told { kind: Kind::SendToNobody, parts, reason: Reason::NoReceiver }
    }

    fn violation(&mut self, violation: &Violation) -> Told {
        let [first, between, last] = violation.events();
        let roles = [(last, Role::Next), (between, Role::Happened), (first, Role::Happened)];
        let parts = roles.map(|(event, role)| self.describer.part(event, role)).into();
        let (kind, reason) = match violation.meant() {
            Meant::Marked => (Kind::AtomicityViolation, Reason::NotInSeries),
            Meant::Inferred => (Kind::InferredAtomicity, Reason::BelongTogether),
            Meant::Assumed => (Kind::InferredAtomicity, Reason::MayBelongTogether),
        };
        Told { kind, parts, reason }
    }

    /// The condition of a check, what its names stand for when it fails, and what is poisoned.
    fn check(&mut self, kind: Kind, check: EventId, found: &Merged) -> Told {
        let trace = self.trace;
        let checker = self.checker.get_or_init(|| Checker::new(trace));
        let machine = checker.machine();
        let printer = trace.printer();
        let expression = trace.data(check).and_then(|data| data.is.as_ref());
        let mut condition =
            expression.map_or_else(String::new, |it| format!("`{}`", printer.expression(it)));
        let mut locks = Vec::new();
        if let Some(proven) = &found.proven {
            let prefix: Vec<EventId> = proven.witness.prefix().collect();
            let mut replay = Replay::of(machine, &prefix);
            if prefix.iter().all(|event| replay.step(*event).is_ok()) {
                let reads = expression.map_or(&[][..], |it| it.reads());
                for read in reads {
                    let name = printer.value_name(*read);
                    if let Some(value) = machine.found(replay.state(), *read) {
                        condition += &format!(", {name} is {}", printer.value(value));
                    }
                }
                let held = machine.held_exclusively(replay.state(), trace.thread(check));
                let held = held.into_iter().filter(|lock| trace.is_of_program(*lock));
                locks.extend(held.map(|lock| self.describer.name(Object::Lock(lock))));
            }
        }
        let parts = vec![self.describer.part(check, Role::Next)];
        Told { kind, parts, reason: Reason::ConditionFails { condition, locks } }
    }
}

fn too_weak(trace: &Trace, links: &[WeakLink], describer: &mut Describer<'_>) -> Reason {
    let accesses = links.iter().map(|link| WeakAccess {
        event: link.event.number(),
        ordering: format!("{:?}", link.ordering),
        place: describer.place(link.event),
        operation: Some(trace.op(link.event).keyword().to_owned()),
        needs: link.needs.map(|needs| format!("{needs:?}")),
    });
    Reason::OrderingTooWeak { accesses: accesses.collect() }
}

/// The locks that the first access's thread gives back after it and that the second's takes before
/// it: they order the two in the observed run.
pub(crate) fn ordering_locks(trace: &Trace, pair: Pair) -> Vec<LockId> {
    let (first, second) = (pair.first(), pair.second());
    let events = |thread_of: EventId| trace.events_of_thread(trace.thread(thread_of));
    let released = events(first)[trace.position(first)..]
        .iter()
        .take_while(|event| **event < second)
        .filter_map(|event| Some((trace.op(*event).released_lock()?, *event)));
    let taken: Vec<(LockId, EventId)> = events(second)[..trace.position(second)]
        .iter()
        .rev()
        .take_while(|event| **event > first)
        .filter_map(|event| Some((trace.op(*event).taken_lock()?, *event)))
        .collect();
    let mut locks: Vec<LockId> = released
        .filter(|(lock, _)| trace.is_of_program(*lock))
        .filter(|(lock, at)| taken.iter().any(|(other, later)| other == lock && later > at))
        .map(|(lock, _)| lock)
        .collect();
    locks.sort_unstable();
    locks.dedup();
    locks
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::goal::GoalKind;
    use crate::witness::{Witness, check};

    /// The kind of a goal that a prefix leads to, and its parts in words.
    fn told(text: &str, kind: GoalKind, prefix: &[u64], next: &[u64]) -> (Kind, Vec<String>) {
        let trace: Trace = text.parse().expect("a valid trace");
        let event = |number: &u64| EventId::from_number(*number).expect("counted from 1");
        let rest: Vec<EventId> = prefix.iter().map(event).collect();
        let next: Vec<EventId> = next.iter().map(event).collect();
        let goal = Goal::of_kind(kind, &next).expect("it can have so many");
        assert_eq!(check(&trace, &rest, &goal), Ok(()));
        let witness = Witness { observed: 0, rest, goal: goal.clone() };
        let proven = Proven { witness, proof: Proof::Solver, time: Duration::ZERO };
        let found =
            Merged { proven: Some(proven), detectors: vec![Detector::Mcm], ..Merged::new(goal) };
        let (kind, occurrence) = Teller::new(&trace, "t", "order").tell(found);
        let words = occurrence.parts.iter().map(|part| {
            let standing = part.standing(&str::to_owned).expect("it waits, or led there");
            format!("{} {} {standing}", part.event, part.thread)
        });
        (kind, words.collect())
    }

    #[test]
    fn a_notification_that_comes_too_early_is_named() {
        let text = "t0 fork t1\nt0 fork t2\nt1 acquire l\nt1 wait c l\nt2 acquire l\n\
                    t2 notify_one c\nt2 release l\nt1 wake c l\nt1 release l\nt0 join t1\n";
        let (kind, parts) = told(text, GoalKind::Stall, &[1, 2, 5, 6, 7, 3, 4], &[8]);
        assert_eq!(kind, Kind::LostWakeup);
        let early = "6 t2 notifies `c` too early, before the wait";
        let too = "10 t0 waits for the end of `t1`, too";
        assert_eq!(parts, ["8 t1 waits on `c` for a notification", early, too]);
    }

    #[test]
    fn a_notification_that_goes_to_another_waiter_is_named() {
        let text = "t0 fork t1\nt0 fork t2\nt1 acquire l\nt1 wait c l\nt2 acquire l\nt2 wait c l\n\
                    t0 acquire l\nt0 notify_one c t1\nt0 release l\nt1 wake c l\n\
                    t1 notify_one c t2\nt1 release l\nt2 wake c l\nt2 release l\n";
        let prefix: Vec<u64> = (1..=9).chain([13, 14]).collect();
        let (kind, parts) = told(text, GoalKind::Stall, &prefix, &[10]);
        assert_eq!(kind, Kind::LostWakeup);
        let elsewhere = "8 t0 notifies `c`, and another waiter gets it";
        assert_eq!(parts, ["10 t1 waits on `c` for a notification", elsewhere]);
    }

    #[test]
    fn two_tokens_that_are_one_are_named() {
        let text = "t0 fork t1\nt0 unpark t1\nt1 park\nt0 unpark t1\nt1 park\nt0 join t1\n";
        let (kind, parts) = told(text, GoalKind::Stall, &[1, 2, 4, 3], &[5]);
        assert_eq!(kind, Kind::LostWakeup);
        let merged = "4 t0 unparks `t1`, which has not used up the `unpark` before";
        let too = "6 t0 waits for the end of `t1`, too";
        assert_eq!(parts, ["5 t1 waits to be unparked", merged, too]);
    }

    #[test]
    fn a_stall_without_a_notification_is_no_lost_wake_up() {
        let text = "t0 fork t1\nt0 fork t2\nt2 acquire a\nt2 release a\nt1 acquire a\nt1 acquire l\n\
                    t1 wait c l\nt2 notify_one c\nt1 wake c l\nt1 release l\nt1 release a\n";
        let (kind, parts) = told(text, GoalKind::Stall, &[1, 2, 5, 6, 7], &[9]);
        assert_eq!(kind, Kind::Stall);
        let root = "9 t1 waits on `c` for a notification";
        assert_eq!(parts, [root, "3 t2 waits for `a`, which `t1` holds, too"]);
    }

    #[test]
    fn an_rwlock_is_one_lock() {
        let text = "#racelog program p\nt0 fork t1\nt0 fork t2\nt1 acquire w @ m.rs:1:1\n\
                    t1 acquire l @ m.rs:1:1\nt1 acquire m @ m.rs:2:1\nt1 release m @ m.rs:3:1\n\
                    t1 release l @ m.rs:3:1\nt1 release w @ m.rs:3:1\nt2 acquire m @ m.rs:4:1\n\
                    t2 acquire w @ m.rs:5:1\nt2 acquire l @ m.rs:5:1\nt2 release l @ m.rs:6:1\n\
                    t2 release w @ m.rs:6:1\nt2 release m @ m.rs:6:1\n";
        let (kind, parts) = told(text, GoalKind::Deadlock, &[1, 2, 3, 4, 9], &[5, 10]);
        assert_eq!(kind, Kind::Deadlock);
        let waits =
            ["5 t1 waits for `m`, which `t2` holds", "10 t2 waits for `l`, which `t1` holds"];
        assert_eq!(parts, [waits[0], waits[1], "4 t1 takes `l`", "9 t2 takes `m`"]);
    }
}
