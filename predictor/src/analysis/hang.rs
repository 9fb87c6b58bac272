//! A hang of the recorded run itself: what its threads waited for when it was given up.
//!
//! Nothing is predicted here. A trace that ends early has the requests of the threads that did not
//! go on. If some of them wait for each other in a circle, these are the hang. Otherwise it is one
//! only if all threads are recorded and wait: one that works on may be about to end the others'
//! waiting. A thread whose request could be granted when the trace ends was about to go on, and had
//! not said so yet. Of a trace that has lost events it is not known which requests were granted.

use racelog::trace::{End, Object, Patience, ThreadId};

use super::standstill::{circle_among, for_anybody};
use crate::finding::{
    Describer, Finding, HeldLock, Kind, Occurrence, Part, Reason, Role, SourceOp, WaitKind, Waits,
    held_at_end,
};
use crate::semantics::{Machine, Replay, State};
use crate::trace::{EventId, Op, Request, Trace};

/// What stands where the names of detectors stand: nothing has to be found out.
const RECORDING: &str = "recording";

/// A thread that waits at the end of a trace.
struct Waiter<'t> {
    thread: ThreadId,
    /// Its last event.
    last: EventId,
    request: &'t Request,
    what: WaitKind,
    object: Option<Object>,
    by: Vec<ThreadId>,
}

/// The hang of a recorded run, if it is one.
pub(super) fn find(trace: &Trace, name: &str, describer: &mut Describer<'_>) -> Option<Finding> {
    let requests = || trace.threads().any(|thread| trace.request_of(thread).is_some());
    if trace.end() == End::Clean || trace.lost_events() > 0 || !requests() {
        return None;
    }
    let machine = Machine::new(trace);
    let mut replay = Replay::observed(&machine);
    trace.events().try_for_each(|event| replay.step(event)).ok()?;
    let end = replay.into_state();
    let waiters: Vec<Waiter<'_>> =
        trace.threads().filter_map(|thread| waiter(&machine, &end, thread)).collect();
    let place = |thread: &ThreadId| waiters.iter().position(|it| it.thread == *thread);
    let circle = circle_among(waiters.len(), |at| waiters[at].by.iter().find_map(place));
    let all_recorded =
        || trace.foreign_threads().next().is_none() && trace.unattributed().is_empty();
    let live = || trace.threads().filter(|thread| is_live(trace, *thread)).count();
    let all_wait = || all_recorded() && waiters.len() == live();
    if waiters.is_empty() || circle.is_empty() && !all_wait() {
        return None;
    }
    let is_primary = |at: usize| circle.is_empty() || circle.contains(&at);
    let with_roles = waiters.iter().enumerate().map(|(at, waiter)| match is_primary(at) {
        true => (waiter, Role::Stuck),
        false => (waiter, Role::WaitsToo),
    });
    let mut parts: Vec<Part> =
        with_roles.map(|(waiter, role)| part(trace, waiter, role, describer)).collect();
    parts.sort_by(|a, b| a.role.is_primary().cmp(&b.role.is_primary()).reverse());
    let occurrence = Occurrence {
        trace: name.to_owned(),
        parts,
        subject: None,
        reason: Reason::Hang,
        detectors: vec![RECORDING.to_owned()],
        solver: None,
        seconds: None,
        witness: None,
        steps: Vec::new(),
        left_out: 0,
        also: Vec::new(),
        directed: None,
        replay: None,
    };
    Some(Finding::new(Kind::Hang, vec![occurrence]))
}

/// Whether a thread has been started and has not come to its end. It may have done nothing yet.
fn is_live(trace: &Trace, thread: ThreadId) -> bool {
    match trace.events_of_thread(thread).last() {
        Some(last) => trace.op(*last) != Op::End,
        None => trace.fork_of(thread).is_some(),
    }
}

fn waiter<'t>(machine: &Machine<'t>, end: &State, thread: ThreadId) -> Option<Waiter<'t>> {
    let trace = machine.trace();
    let request = trace.request_of(thread)?;
    let last = *trace.events_of_thread(thread).last()?;
    if request.patience != Patience::Forever {
        return None;
    }
    let may_go_on = machine.may_go_on(end, thread, &request.op);
    let (what, object, by) = match request.op {
        // Writers that wait may keep it out.
        op if may_go_on && !matches!(op, Op::ReadAcquire(_)) => return None,
        Op::Join(child) => (WaitKind::ThreadEnd, Some(Object::Thread(child)), vec![child]),
        Op::Acquire(lock) | Op::ReadAcquire(lock) | Op::OnceWait(lock) => {
            let lock = trace.lock_of_program(lock);
            let shares = matches!(request.op, Op::ReadAcquire(_));
            let keeps_out = |held: &HeldLock| held.lock == lock && !(held.shared && shares);
            let holds = |thread: &ThreadId| held_at_end(trace, *thread).iter().any(keeps_out);
            let holders: Vec<ThreadId> = trace.threads().filter(holds).collect();
            let waits_to_write = |other: &ThreadId| {
                let request = trace.request_of(*other).map(|request| request.op);
                let wants = |op: &Op| {
                    let wanted =
                        matches!(*op, Op::Acquire(it) if trace.lock_of_program(it) == lock);
                    wanted && !machine.may_go_on(end, *other, op)
                };
                *other != thread && request.as_ref().is_some_and(wants)
            };
            let object = Some(Object::Lock(lock));
            match (holders.is_empty(), request.op) {
                (true, _) => {
                    let fair = || trace.is_fair(lock);
                    let writers = trace.threads().filter(|it| fair() && waits_to_write(it));
                    let writers: Vec<ThreadId> = writers.collect();
                    if writers.is_empty() {
                        return None;
                    }
                    (WaitKind::WaitingWriters, object, writers)
                }
                (false, Op::OnceWait(_)) => (WaitKind::Initialiser, object, holders),
                (false, _) => (WaitKind::Lock, object, holders),
            }
        }
        op => {
            let (what, object) = for_anybody(&op);
            (what, object, Vec::new())
        }
    };
    Some(Waiter { thread, last, request, what, object, by })
}

fn part(trace: &Trace, waiter: &Waiter<'_>, role: Role, describer: &mut Describer<'_>) -> Part {
    let Waiter { request, .. } = waiter;
    let by = waiter.by.iter().map(|thread| describer.name(Object::Thread(*thread)));
    let waits = Waits { what: waiter.what.clone(), by: by.collect() };
    let source = SourceOp {
        place: request.location.map(|location| describer.place_at(location)),
        operation: request.op.keyword().to_owned(),
        atomic: false,
    };
    Part {
        source,
        object: waiter.object.map(|object| describer.name(object)),
        value: "_".to_owned(),
        new_value: None,
        waits: Some(waits),
        locks: describer.locks(&held_at_end(trace, waiter.thread)),
        ..describer.part(waiter.last, role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who waits in a trace that ends early, in a sentence.
    fn hang(text: &str) -> Option<String> {
        let trace: Trace = format!("#racelog end cut-off\n{text}").parse().unwrap();
        let found = find(&trace, "t", &mut Describer::new(&trace))?;
        found.occurrences[0].who_waits(&str::to_owned)
    }

    #[test]
    fn a_circle_is_a_hang_whatever_the_others_do() {
        let text = "t0 fork t1\nt0 fork t2\nt0 write x 1\nt1 acquire a\nt2 acquire b\n\
                    t1 request acquire b\nt2 request acquire a\n";
        let words = "`t1` holds `a` and waits for `b`; `t2` holds `b` and waits for `a`";
        assert_eq!(hang(text).as_deref(), Some(words));
        // A thread that went on does not wait.
        assert_eq!(hang(&format!("{text}t2 read x 1\n")), None);
    }

    #[test]
    fn a_lock_of_its_own_is_waited_for_for_ever() {
        let text = "t0 acquire a\nt0 request acquire a\n";
        assert_eq!(hang(text).as_deref(), Some("`t0` holds `a` and waits for `a`"));
    }

    #[test]
    fn without_a_circle_all_have_to_wait() {
        let text = "t0 fork t1\nt1 write x 1\nt1 request park\n";
        assert_eq!(hang(text), None);
        let words = "`t0` waits for the end of `t1`; `t1` waits to be unparked";
        assert_eq!(hang(&format!("{text}t0 request join t1\n")).as_deref(), Some(words));
        // Nor is it known what a thread does that has just been started.
        assert_eq!(hang(&format!("t0 fork t2\n{text}t0 request join t1\n")), None);
        // Who waits for a time only goes on.
        assert_eq!(hang("t0 write x 1\nt0 request park timed\n"), None);
        let waits = "t0 acquire a\nt0 wait c a\nt0 request wake c a\n";
        assert!(hang(waits).is_some());
        assert_eq!(hang(&waits.replace("wait c a", "wait c a timed")), None);
    }

    #[test]
    fn who_is_just_about_to_go_on_does_not_hang() {
        // The message is there, the token is set, the lock is free, the thread has ended.
        for (before, request) in [
            ("t1 send ch m1\n", "recv_closed ch"),
            ("t1 unpark t0\n", "park"),
            ("t1 acquire a\nt1 release a\n", "acquire a"),
            ("t1 end\n", "join t1"),
        ] {
            let ends = if before.contains("end\n") { "" } else { "t1 request park\n" };
            let text = format!("t0 fork t1\nt1 begin\n{before}t0 request {request}\n{ends}");
            assert_eq!(hang(&text), None, "{text}");
            let stuck = text.replace(before, "t1 acquire a\nt1 send other m1\n");
            let stuck = if ends.is_empty() { stuck + "t1 request park\n" } else { stuck };
            assert!(hang(&stuck).is_some(), "{stuck}");
        }
    }

    #[test]
    fn who_is_not_recorded_may_help() {
        let text = "t0 fork t1\nt1 write x 1\nt1 request park\nt0 request join t1\n";
        assert!(hang(text).is_some());
        assert_eq!(hang(&format!("#racelog foreign f\nf write y 1\n{text}")), None);
    }

    #[test]
    fn a_run_that_came_to_its_end_did_not_hang() {
        let trace: Trace = "t0 acquire a\nt0 request acquire a\n".parse().unwrap();
        assert_eq!(find(&trace, "t", &mut Describer::new(&trace)), None);
    }
}
