//! `predictor explore`

use std::io::{self, Write};

use super::args::{Explore, ReportFormat};
use super::input::Input;
use super::progress::Progress;
use super::{Failure, Outcome, goal_lists, say, terminal};
use crate::explore::{Exploration, explore};
use crate::goal::GoalKinds;
use crate::trace::{EventId, Trace};
use crate::witness;

pub(super) fn run(args: &Explore) -> Result<Outcome, Failure> {
    let input = Input::of_args(&args.input)?;
    let name = input.name();
    let trace = input.load()?;
    let mut progress = Progress::new("states explored");
    let found = explore(&trace, args.goals, args.max_states, |states| {
        progress.update(|| (states as u64, None));
    });
    drop(progress);
    for (goal, witness) in &found.found {
        // What the checker does not confirm is a bug of ours and never shown.
        let prefix: Vec<EventId> = witness.prefix().collect();
        if let Err(refutation) = witness::check(&trace, &prefix, goal) {
            let problem = format!("bug: {goal:?} is not confirmed: {refutation:?}");
            return Err(Failure::of(name, problem));
        }
    }
    let mut out = terminal::stdout(terminal::Kind::Text);
    match args.format {
        ReportFormat::Json => print_json(&mut out, args.goals, &found)?,
        ReportFormat::Text => print_text(&mut out, &trace, &found)?,
    }
    out.flush()?;
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

fn print_json(out: &mut impl Write, kinds: GoalKinds, found: &Exploration) -> io::Result<()> {
    write!(out, "{{")?;
    goal_lists::write(out, kinds, found.found.keys())?;
    if !found.complete {
        write!(out, ", \"complete\": false")?;
    }
    writeln!(out, "}}")
}

fn print_text(out: &mut impl Write, trace: &Trace, found: &Exploration) -> io::Result<()> {
    let mut printer = trace.printer();
    for (goal, witness) in &found.found {
        writeln!(out, "{} ({})", goal.kind().name(), numbers(goal.next().iter().copied(), ", "))?;
        for event in goal.next() {
            writeln!(out, "{:>8}  {}", event.number(), printer.event(*event))?;
        }
        writeln!(out, "{:>8}  {}\n", "witness", numbers(witness.schedule(), " "))?;
    }
    let counts = goal_lists::counts(found.found.keys());
    let scope = if found.complete { "all of them" } else { "not all" };
    writeln!(out, "{counts} in {} events; {} states explored, {scope}", trace.len(), found.states)
}

fn numbers(events: impl Iterator<Item = EventId>, between: &str) -> String {
    let numbers: Vec<String> = events.map(|event| event.to_string()).collect();
    numbers.join(between)
}
