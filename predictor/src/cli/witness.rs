//! `predictor witness`

use std::io::{self, Write};
use std::time::Instant;

use super::args::{Effort, EventNumbers, Witness as WitnessArgs};
use super::input::Input;
use super::{Failure, Outcome, say, terminal};
use crate::goal::race::conflict;
use crate::goal::{Goal, GoalKind};
use crate::predict::{Decided, decide_goal};
use crate::trace::{EventId, Op, Trace};
use crate::witness::Witness;

pub(super) fn run(args: &WitnessArgs) -> Result<Outcome, Failure> {
    let input = Input::of_args(&args.input)?;
    let name = input.name();
    let trace = input.load()?;
    match decide(&trace, &name, &args.events, &args.effort)? {
        Decision::Proven(witness) => {
            print(&trace, &witness)?;
            Ok(Outcome::NothingFound)
        }
        Decision::Nothing(what) => {
            say("note", format_args!("{name}: {what}"));
            Ok(Outcome::Found)
        }
    }
}

/// What is known of some events.
pub(super) enum Decision {
    /// Some execution reaches a goal in which they are next.
    Proven(Witness),
    /// None does; in words.
    Nothing(String),
}

/// Decides whether some execution reaches a goal in which these events of a trace are next.
pub(super) fn decide(
    trace: &Trace,
    name: &str,
    events: &EventNumbers,
    effort: &Effort,
) -> Result<Decision, Failure> {
    let events = numbered(trace, events).map_err(|problem| Failure::of(name, problem))?;
    let goals = goals(trace, &events).map_err(|problem| Failure::of(name, problem))?;
    let deadline = Instant::now() + effort.pair_time;
    let mut is_unknown = false;
    for goal in &goals {
        match decide_goal(trace, goal, effort.solver, Some(deadline)) {
            Decided::Proven(witness) => return Ok(Decision::Proven(witness)),
            Decided::Impossible => {}
            Decided::Unknown => is_unknown = true,
            // The threads can be there, and do not wait for each other.
            Decided::Unconfirmed(_) if !goal.wants_enabled() => {}
            Decided::Unconfirmed(refutation) => {
                let problem = format!("bug: the witness is not confirmed: {refutation}");
                return Err(Failure::of(name, problem));
            }
        }
    }
    if is_unknown {
        let problem = "they could not be decided with so much effort: raise --pair-time";
        return Err(Failure::of(name, problem));
    }
    let events: Vec<String> = events.iter().map(EventId::to_string).collect();
    let kinds: Vec<&str> = goals.iter().map(|goal| goal.kind().name()).collect();
    Ok(Decision::Nothing(format!("({}) is no {}", events.join(", "), kinds.join(", no "))))
}

fn numbered(trace: &Trace, EventNumbers(numbers): &EventNumbers) -> Result<Vec<EventId>, String> {
    let event = |number: &u64| {
        let event = EventId::from_number(*number).filter(|event| trace.contains(*event));
        event.ok_or_else(|| {
            format!("there is no event {number}: the trace has {} events", trace.len())
        })
    };
    numbers.iter().map(event).collect()
}

/// The goals that can have these events next: accesses race, and other operations wait or send.
fn goals(trace: &Trace, next: &[EventId]) -> Result<Vec<Goal>, String> {
    let is_access = |event: &EventId| trace.op(*event).var().is_some();
    if next.iter().any(is_access) {
        return match Goal::of_kind(GoalKind::Race, next) {
            Some(race) if conflict(trace, next[0], next[1]) => Ok(vec![race]),
            Some(_) => Err(format!(
                "events {} and {} do not conflict: they are not accesses of one variable by two \
                 threads, one of them a write and one of them not atomic",
                next[0], next[1]
            )),
            None => Err("a race is two accesses".to_owned()),
        };
    }
    let is_send = |event: &EventId| matches!(trace.op(*event), Op::Send { .. });
    let is_check = |event: &EventId, panics: bool| matches!(trace.op(*event), Op::Check { by_language, .. } if by_language == panics);
    let kinds = GoalKind::ALL.into_iter().filter(|kind| match kind {
        GoalKind::Race => false,
        GoalKind::SendToNobody => next.iter().all(is_send),
        GoalKind::FailedCheck => next.iter().all(|event| is_check(event, false)),
        GoalKind::Panic => next.iter().all(|event| is_check(event, true)),
        GoalKind::Atomicity | GoalKind::InferredAtomicity | GoalKind::AssumedAtomicity => false,
        GoalKind::Deadlock | GoalKind::FairDeadlock | GoalKind::Stall => true,
    });
    Ok(kinds.filter_map(|kind| Goal::of_kind(kind, next)).collect())
}

/// One event a line, in the form that `predictor check` reads.
fn print(trace: &Trace, witness: &Witness) -> io::Result<()> {
    let mut out = terminal::stdout(terminal::Kind::Text);
    let mut printer = trace.printer();
    let schedule: Vec<EventId> = witness.schedule().collect();
    let switches = witness.switches(trace);
    writeln!(out, "# {} events, {switches} thread switches", schedule.len())?;
    let next = match witness.goal {
        Goal::Race(_) => "# now both of these can happen:",
        Goal::Deadlock(_) => "| # now each of these waits for another:",
        Goal::Stall(_) => "| # now these wait, and no thread can go on:",
        Goal::SendToNobody(_) => "| # now nobody is there to receive this:",
        Goal::FailedCheck(_) | Goal::Panic(_) => "| # now this does not hold:",
        Goal::Atomicity(_) => "| # now this ends what was meant to be one step:",
    };
    for (place, event) in schedule.iter().enumerate() {
        if place == witness.prefix_len() {
            writeln!(out, "{next}")?;
        }
        writeln!(out, "{:>8}  # {}", event.number(), printer.event(*event))?;
    }
    out.flush()
}
