//! Schedules for the program, made from witnesses.

use std::collections::BTreeMap;

use racelog::contract::operation::{AccessValues, FREE, Operation};
use racelog::contract::schedule::{Aim, Schedule, Step};
use racelog::trace::{Object, ThreadId, Value};
use rustc_hash::FxHashMap;

use super::Target;
use super::named::ReportNames;
use super::whole::{comes_with_next, is_free_by_destructor, is_hidden, keep_operations_whole};
use crate::goal::Goal;
use crate::semantics::{Machine, Replay};
use crate::trace::{EventId, Op, Printer, Trace};
use crate::witness::Witness;

/// Why there is no plan.
pub const NO_PLAN: &str = "it cannot be replayed: one of its threads was not started by recorded code, so nothing controls it";

/// A witness as a program can follow it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The schedule; of a race, the one in which the first of the racing threads goes first.
    schedule: Schedule,
    /// What the trace calls all threads, by their places in the tree of threads.
    names: BTreeMap<String, String>,
    /// What the trace calls the things that threads are to wait for in the end, by the threads.
    awaited: BTreeMap<String, String>,
}

/// A schedule for one run of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedRun {
    /// The racing thread that is to go first, as the trace calls it; none if there is no race.
    pub first: Option<String>,
    /// The schedule.
    pub text: String,
}

impl Plan {
    /// The plan of a witness. None if an event that it ends with is of a thread that a replay does
    /// not control.
    pub fn new(trace: &Trace, witness: &Witness) -> Option<Self> {
        let steps = keep_operations_whole(trace, witness);
        let goal = &witness.goal;
        let aim = goal.aim()?;
        if goal.next().iter().any(|event| is_beyond_control(trace, *event)) {
            return None;
        }
        let paths = thread_paths(trace);
        let (woken, known) = decided(trace, &steps);
        let mut names = Names { printer: trace.printer(), given: FxHashMap::default() };
        let mut step = |event: EventId| {
            let op = trace.op(event);
            let object = match op {
                Op::Fork(other) | Op::Join(other) | Op::Unpark(other) => {
                    Some(paths[&other].clone())
                }
                op => names.of(trace, op),
            };
            let frees = is_free_by_destructor(trace, event);
            let operation = Operation {
                thread: paths[&trace.thread(event)].clone(),
                op: if frees { FREE } else { op.keyword() }.to_owned(),
                object,
                woken: woken.get(&event).map(|woken| paths[woken].clone()),
                place: trace.source_place(event),
            };
            Step { operation, values: known.get(&event).cloned() }
        };
        let mut last: FxHashMap<ThreadId, EventId> = FxHashMap::default();
        last.extend(steps.iter().map(|event| (trace.thread(*event), *event)));
        let is_last = |event: EventId| last.get(&trace.thread(event)) == Some(&event);
        // Of a destructor's frees only the one that races is waited for.
        let is_no_step = |event: EventId| {
            is_hidden(trace, event)
                || is_beyond_control(trace, event)
                || comes_with_next(trace, event) && is_last(event)
        };
        let happen = steps.iter().filter(|event| !is_no_step(**event));
        let happen = happen.copied().map(&mut step).collect();
        let next: Vec<Step> = goal.next().iter().copied().map(step).collect();
        let test = trace.metadata().test.clone();
        let schedule = Schedule { test, steps: happen, aim, next };
        let mut printer = trace.printer();
        let awaited = goal.next().iter().filter_map(|event| {
            let object = awaited(trace, goal, *event)?;
            let path = paths[&trace.thread(*event)].clone();
            Some((path, printer.name(object).to_owned()))
        });
        let awaited = awaited.collect();
        let named = |(id, path)| (path, printer.name(Object::Thread(id)).to_owned());
        let names = paths.into_iter().map(named).collect();
        Some(Self { schedule, names, awaited })
    }

    /// What is looked for in the program.
    pub fn target(&self) -> Target {
        Target::from(self.schedule.aim)
    }

    /// The schedules that the program follows, a run each: a race is to be seen in both orders.
    pub fn runs(&self) -> Vec<PlannedRun> {
        let run = |aim: Aim, first: Option<usize>| {
            let path = |at: usize| &self.schedule.next[at].operation.thread;
            let text = Schedule { aim, ..self.schedule.clone() }.to_string();
            PlannedRun { first: first.map(|at| self.name(path(at)).to_owned()), text }
        };
        match self.schedule.aim {
            Aim::Race { .. } => [0, 1].map(|first| run(Aim::Race { first }, Some(first))).to_vec(),
            aim @ (Aim::Deadlock | Aim::Stall | Aim::SendToNobody | Aim::Failure) => {
                vec![run(aim, None)]
            }
        }
    }

    /// What the trace calls a thread.
    fn name<'a>(&'a self, path: &'a str) -> &'a str {
        self.names.get(path).map_or(path, String::as_str)
    }

    /// What is needed to read how it went. The prefixes are taken off the names of files.
    pub fn report_names(&self, prefixes: &[String]) -> ReportNames {
        ReportNames {
            threads: self.names.clone(),
            awaited: self.awaited.clone(),
            prefixes: prefixes.to_vec(),
        }
    }
}

/// What a thread waits for that is about to do the event; nothing for the end of a thread.
fn awaited(trace: &Trace, goal: &Goal, event: EventId) -> Option<Object> {
    let op = trace.op(event);
    if trace.is_of_added_lock(event) {
        // The lock that the program knows is the one that is taken with it.
        let own = trace.events_of_thread(trace.thread(event));
        let next = own.get(trace.position(event) + 1)?;
        return trace.op(*next).taken_lock().map(Object::Lock);
    }
    match op {
        // Programs have no name for a scope.
        Op::Leave { .. } if trace.ends_scope(event) => None,
        // In a circle a thread waits to have its lock back, notified or not.
        Op::Wake { lock, .. } | Op::WakeTimeout { lock, .. }
            if matches!(goal, Goal::Deadlock(_)) =>
        {
            Some(Object::Lock(lock))
        }
        Op::Fork(_) | Op::Join(_) | Op::Unpark(_) => None,
        op => op.object(),
    }
}

/// Whether an event is of a thread that a replay of the test does not control: nobody who is
/// controlled starts it, or the thread that starts it. In a process that is replayed as a whole,
/// all threads are under control.
fn is_beyond_control(trace: &Trace, event: EventId) -> bool {
    let mut thread = trace.thread(event);
    while let Some(fork) = trace.fork_of(thread) {
        thread = trace.thread(fork);
    }
    trace.metadata().test.is_some() && trace.is_foreign(thread)
}

/// Values from this on may be addresses, which are others in every run.
const MAY_BE_ADDRESS: u128 = 1 << 32;

/// What a witness decides besides the order: whom each `notify_one` wakes, if it wakes a thread,
/// for the witness needs just these; and what accesses read and write, as far as that is known.
fn decided(
    trace: &Trace,
    steps: &[EventId],
) -> (FxHashMap<EventId, ThreadId>, FxHashMap<EventId, AccessValues>) {
    let machine = Machine::new(trace);
    let mut replay = Replay::of(&machine, steps);
    let (mut woken, mut values) = (FxHashMap::default(), FxHashMap::default());
    for &event in steps {
        woken.extend(replay.woken(event).map(|thread| (event, thread)));
        // A sequence that is no witness decides nothing from here on; the program then tells why.
        if replay.step(event).is_err() {
            break;
        }
        // Who has read something else than in the trace may do anything from there on.
        if replay.state().is_clean(trace.thread(event)) {
            values.extend(values_of(trace, event).map(|values| (event, values)));
        }
    }
    (woken, values)
}

/// What an access reads and writes, if the program would find the same values.
fn values_of(trace: &Trace, event: EventId) -> Option<AccessValues> {
    let number = |value| match trace.values().get(value) {
        Value::Nat(number) if number < MAY_BE_ADDRESS => Some(number.to_string()),
        Value::Neg(number) => Some(number.to_string()),
        _ => None,
    };
    let op = trace.op(event);
    // Memory that is accessed in parts has other values in each of them.
    if op.var().is_some_and(|var| trace.is_mixed(var)) {
        return None;
    }
    AccessValues::of(&op, |value| number(*value))
}

/// The names of threads by their places in the tree of threads: two runs give the same name to the
/// same thread.
pub fn thread_paths(trace: &Trace) -> BTreeMap<ThreadId, String> {
    let mut paths = BTreeMap::new();
    let mut children: BTreeMap<ThreadId, u32> = BTreeMap::new();
    for thread in trace.threads().filter(|thread| trace.fork_of(*thread).is_none()) {
        paths.insert(thread, paths.len().to_string());
    }
    for event in trace.events() {
        if let Op::Fork(child) = trace.op(event) {
            let parent = trace.thread(event);
            let number = children.entry(parent).or_default();
            *number += 1;
            let path = format!("{}.{number}", paths[&parent]);
            paths.insert(child, path);
        }
    }
    paths
}

/// Names of objects. Each belongs to one object only, and is a single word.
struct Names<'a> {
    printer: Printer<'a>,
    given: FxHashMap<String, Object>,
}

impl Names<'_> {
    fn of(&mut self, trace: &Trace, op: Op) -> Option<String> {
        let object = op.object()?;
        // Memory that is accessed in parts is several objects to the program.
        if matches!(object, Object::Var(var) if trace.is_mixed(var)) {
            return None;
        }
        let own = self.printer.name(object);
        let special = |c: char| c.is_whitespace() || matches!(c, '#' | '@');
        let mut name: String = own.replace(special, "_");
        if name.is_empty() || name == "-" {
            name.push('_');
        }
        while *self.given.entry(name.clone()).or_insert(object) != object {
            name.push('\'');
        }
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{Circle, Pair};
    use crate::trace::format::{Format, Source};

    fn load(text: &str) -> Trace {
        let mut source = Source::of_bytes(text.as_bytes().to_vec(), Some(Format::Text)).unwrap();
        Trace::load(&mut source, |_| {}).unwrap()
    }

    /// The plan of a race, whose accesses come last.
    fn plan(trace: &Trace, events: &[u64]) -> Option<Plan> {
        let events: Vec<EventId> = numbered(events);
        let (prefix, next) = events.split_at(events.len() - 2);
        let goal = Goal::Race(Pair::new(next[0], next[1]));
        Plan::new(trace, &Witness { observed: 0, rest: prefix.to_vec(), goal })
    }

    fn numbered(events: &[u64]) -> Vec<EventId> {
        events.iter().map(|number| EventId::from_number(*number).unwrap()).collect()
    }

    /// The schedule in which the racing thread of this name goes first.
    fn text(plan: &Plan, first: &str) -> String {
        let mut runs = plan.runs().into_iter();
        runs.find(|run| run.first.as_deref() == Some(first)).unwrap().text
    }

    #[test]
    fn threads_are_named_by_who_made_them() {
        let trace = load(
            "main fork a @ m.rs:1:2\nmain fork b\na begin\na fork c\nb acquire x\nb write x 1 @ \
             m.rs:7\nc write x 2\n",
        );
        let plan = plan(&trace, &[1, 2, 3, 4, 5, 6, 7]).unwrap();
        assert_eq!(
            text(&plan, "c"),
            "racelog-schedule 4\nfirst 0.1.1\nstep 0 fork 0.1 @ m.rs:1:2\nstep 0 fork 0.2\n\
             step 0.1 begin -\nstep 0.1 fork 0.1.1\nstep 0.2 acquire x\n\
             race 0.2 write x' @ m.rs:7\nrace 0.1.1 write x'\n"
        );
    }

    #[test]
    fn a_notification_goes_to_the_first_that_wakes() {
        let trace = load(
            "a acquire l\na wait c l\nb acquire l\nb wait c l\nm acquire l\nm notify_one c a\n\
             m release l\na wake c l\na release l\nm acquire l\nm notify_one c b\n\
             m release l\nb wake c l\nb release l\nb write x 1\nm write x 2\n",
        );
        let lines = |events: &[u64]| {
            let text = text(&plan(&trace, events).unwrap(), "b");
            let notified = text.lines().filter(|line| line.contains("notify_one"));
            notified.map(str::to_owned).collect::<Vec<_>>()
        };
        let [a, b] = ["step 2 notify_one c 0", "step 2 notify_one c 1"];
        assert_eq!(lines(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]), [a, b]);
        assert_eq!(lines(&[1, 2, 3, 4, 5, 6, 7, 13, 14, 10, 11, 12, 15, 16]), [b, a]);
        // Nobody waits yet.
        let nobody = "step 2 notify_one c";
        assert_eq!(lines(&[5, 6, 7, 3, 4, 1, 2, 10, 11, 12, 13, 14, 15, 16]), [nobody, b]);
    }

    #[test]
    fn what_no_replay_controls_is_left_to_itself() {
        let lines = "main write x 1\n#racelog foreign f\nf fork g\ng write y 1\nmain write y 2\n\
                    main fork a\na write z 1\nmain write z 2\n";
        let trace = load(&format!("#racelog test some::test\n{lines}"));
        let steps = text(&plan(&trace, &[1, 2, 4, 5, 6, 7]).unwrap(), "main");
        assert!(steps.contains("test some::test\n") && !steps.contains("step 1"), "{steps}");
        assert_eq!(plan(&trace, &[1, 2, 3, 4]), None);
        // All of a process is under control.
        let whole = plan(&load(lines), &[1, 2, 3, 4]).unwrap();
        assert!(text(&whole, "main").contains("step 1 fork 1.1"));
    }

    #[test]
    fn a_deadlock_ends_with_what_its_threads_wait_to_do() {
        let trace = load(
            "#racelog program p\nm fork a @ m.rs:1\nm fork b @ m.rs:2\na acquire x @ m.rs:3\n\
             a acquire y @ m.rs:4\na release y\na release x\nb acquire w @ m.rs:5\n\
             b acquire y @ m.rs:5\nb acquire x @ m.rs:6\nb release x\nb release y @ m.rs:5\n\
             b release w @ m.rs:5\nm racquire y @ m.rs:7\nm rrelease y @ m.rs:7\n",
        );
        let of = |prefix: &[u64], next: &[u64]| {
            let goal = Goal::Deadlock(Circle::new(numbered(next)));
            let witness = Witness { observed: 0, rest: numbered(prefix), goal };
            Plan::new(&trace, &witness).unwrap()
        };
        let plan = of(&[1, 2, 3, 7, 8], &[4, 9]);
        let [run] = &plan.runs()[..] else { panic!("one order is enough") };
        assert_eq!((&run.first, plan.target()), (&None, Target::Deadlock));
        assert_eq!(
            run.text,
            "racelog-schedule 4\nstep 0 fork 0.1 @ m.rs:1\nstep 0 fork 0.2 @ m.rs:2\n\
             step 0.1 acquire x @ m.rs:3\nstep 0.2 acquire w @ m.rs:5\n\
             step 0.2 acquire y @ m.rs:5\ndeadlock 0.1 acquire y @ m.rs:4\n\
             deadlock 0.2 acquire x @ m.rs:6\n"
        );
        // The writer's two locks are one operation, of which nothing is done while it waits.
        let waits = of(&[1, 2, 3, 7], &[4, 8]).runs()[0].text.clone();
        assert!(!waits.contains("acquire w"), "{waits}");
        assert_eq!(plan.awaited["0.1"], "y");
    }
}
