//! `predictor explore`

use std::io::{self, Write};

use serde::Serialize;

use super::args::{Explore, ReportFormat};
use super::input::Input;
use super::progress::Progress;
use super::{Failure, Outcome, say, terminal};
use crate::explore::{Exploration, explore_model};
use crate::goal::{GoalKinds, GoalLists};
use crate::trace::{EventId, Trace};
use crate::witness;

pub(super) fn run(args: &Explore) -> Result<Outcome, Failure> {
    let input = Input::of_args(&args.input)?;
    let name = input.name();
    let trace = input.load()?;
    let mut progress = Progress::new("states explored");
    let goals = args.step_goals.and(args.goals);
    let found = explore_model(&trace, args.model, goals, args.max_states, |states| {
        progress.update(|| (states as u64, None));
    });
    drop(progress);
    for (goal, witness) in &found.found {
        // What the checker does not confirm is a bug of ours and never shown.
        let prefix: Vec<EventId> = witness.prefix().collect();
        if let Err(refutation) = witness::check_model(&trace, args.model, &prefix, goal) {
            let problem = format!("bug: {goal:?} is not confirmed: {refutation:?}");
            return Err(Failure::of(name, problem));
        }
    }
    let mut out = terminal::stdout(terminal::Kind::Text);
    match args.format {
        ReportFormat::Json => print_json(&mut out, goals, &found)?,
        ReportFormat::Text => print_text(&mut out, &trace, goals, &found)?,
    }
    out.flush()?;
    if let Some(warning) = args.model.warning() {
        say("warning", format_args!("{name}: {warning}"));
    }
    if !found.complete {
        let problem = "not all executions were tried: there may be more; raise --max-states";
        say("warning", format_args!("{name}: {problem}"));
    }
    Ok(match (found.found.is_empty(), found.complete) {
        (false, _) => Outcome::Found,
        (true, true) => Outcome::NothingFound,
        (true, false) => Outcome::Incomplete,
    })
}

/// What was found, as JSON.
#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    lists: GoalLists,
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
}

fn print_json(out: &mut impl Write, kinds: GoalKinds, found: &Exploration) -> io::Result<()> {
    let lists = GoalLists::new(kinds, found.found.keys());
    let found = Found { lists, complete: (!found.complete).then_some(false) };
    serde_json::to_writer(&mut *out, &found)?;
    writeln!(out)
}

fn print_text(
    out: &mut impl Write,
    trace: &Trace,
    kinds: GoalKinds,
    found: &Exploration,
) -> io::Result<()> {
    let mut printer = trace.printer();
    for (goal, witness) in &found.found {
        writeln!(out, "{} ({})", goal.kind().name(), numbers(goal.events(), ", "))?;
        for event in goal.events() {
            writeln!(out, "{:>8}  {}", event.number(), printer.event(event))?;
        }
        writeln!(out, "{:>8}  {}\n", "witness", numbers(witness.schedule(), " "))?;
    }
    let counts = GoalLists::new(kinds, found.found.keys()).counts();
    let scope = if found.complete { "all of them" } else { "not all" };
    writeln!(out, "{counts} in {} events; {} states explored, {scope}", trace.len(), found.states)
}

fn numbers(events: impl Iterator<Item = EventId>, between: &str) -> String {
    let numbers: Vec<String> = events.map(|event| event.to_string()).collect();
    numbers.join(between)
}
