//! `predictor witness`

use std::io::{self, Write};
use std::time::Instant;

use super::args::{Effort, Witness};
use super::input::Input;
use super::{Failure, Outcome, say, terminal};
use crate::goal::race::conflict;
use crate::goal::{Goal, Pair};
use crate::predict::{Decided, decide_goal};
use crate::trace::{EventId, Trace};
use crate::witness::switches;

pub(super) fn run(args: &Witness) -> Result<Outcome, Failure> {
    let input = Input::of_args(&args.input)?;
    let name = input.name();
    let trace = input.load()?;
    match decide(&trace, &name, args.race, &args.effort)? {
        Decision::Race(schedule) => {
            print(&trace, &schedule)?;
            Ok(Outcome::NothingFound)
        }
        Decision::NoRace => {
            let (first, second) = args.race;
            let (first, second) = (first.min(second), first.max(second));
            say("note", format_args!("{name}: ({first}, {second}) is no race"));
            Ok(Outcome::Found)
        }
    }
}

/// What is known of a pair.
pub(super) enum Decision {
    /// A race, and the schedule that proves it.
    Race(Vec<EventId>),
    NoRace,
}

/// Decides whether two events of a trace race.
pub(super) fn decide(
    trace: &Trace,
    name: &str,
    race: (u64, u64),
    effort: &Effort,
) -> Result<Decision, Failure> {
    let pair = pair(trace, race).map_err(|problem| Failure::of(name, problem))?;
    let deadline = Instant::now() + effort.pair_time;
    match decide_goal(trace, &Goal::Race(pair), effort.solver, Some(deadline)) {
        Decided::Proven(witness) => Ok(Decision::Race(witness.schedule().collect())),
        Decided::Impossible => Ok(Decision::NoRace),
        Decided::Unknown => {
            Err(Failure::of(name, "the time was up before the pair was decided: raise --pair-time"))
        }
        Decided::Unconfirmed(refutation) => {
            Err(Failure::of(name, format!("bug: the witness is not confirmed: {refutation}")))
        }
    }
}

fn pair(trace: &Trace, (first, second): (u64, u64)) -> Result<Pair, String> {
    let event = |number| {
        let event = EventId::from_number(number).filter(|event| trace.contains(*event));
        event.ok_or_else(|| {
            format!("there is no event {number}: the trace has {} events", trace.len())
        })
    };
    let (first, second) = (event(first)?, event(second)?);
    if !conflict(trace, first, second) {
        return Err(format!(
            "events {first} and {second} do not conflict: they are not accesses of one variable by \
             two threads, one of them a write and one of them not atomic"
        ));
    }
    Ok(Pair::new(first, second))
}

/// One event a line, in the form that `predictor check` reads.
fn print(trace: &Trace, schedule: &[EventId]) -> io::Result<()> {
    let mut out = terminal::stdout(terminal::Kind::Text);
    let mut printer = trace.printer();
    writeln!(out, "# {} events, {} thread switches", schedule.len(), switches(trace, schedule))?;
    let racing = schedule.len().saturating_sub(2);
    for (place, event) in schedule.iter().enumerate() {
        if place == racing {
            writeln!(out, "# now both of these can happen:")?;
        }
        writeln!(out, "{:>8}  # {}", event.number(), printer.event(*event))?;
    }
    out.flush()
}
