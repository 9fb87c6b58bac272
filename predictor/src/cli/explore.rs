//! `predictor explore`

use std::io::{self, Write};

use super::args::{Explore, ReportFormat};
use super::input::Input;
use super::progress::Progress;
use super::{Failure, Outcome, say, terminal};
use crate::explore::{Exploration, explore};
use crate::trace::{EventId, Trace};
use crate::witness;

pub(super) fn run(args: &Explore) -> Result<Outcome, Failure> {
    let input = Input::of_args(&args.input)?;
    let name = input.name();
    let trace = input.load()?;
    let mut progress = Progress::new("states explored");
    let found = explore(&trace, args.max_states, |states| {
        progress.update(|| (states as u64, None));
    });
    drop(progress);
    for (pair, schedule) in &found.races {
        // What the checker does not confirm is a bug of ours and never shown.
        match witness::check(&trace, schedule) {
            Ok(proven) if proven == *pair => {}
            other => {
                return Err(Failure::of(
                    name,
                    format!("bug: {pair:?} is not confirmed: {other:?}"),
                ));
            }
        }
    }
    let mut out = terminal::stdout(terminal::Kind::Text);
    match args.format {
        ReportFormat::Json => print_json(&mut out, &found)?,
        ReportFormat::Text => print_text(&mut out, &trace, &found)?,
    }
    out.flush()?;
    if !found.complete {
        let problem = "not all executions were tried: there may be more races; raise --max-states";
        say("warning", format_args!("{name}: {problem}"));
    }
    Ok(match (found.races.is_empty(), found.complete) {
        (false, _) => Outcome::Found,
        (true, true) => Outcome::NothingFound,
        (true, false) => Outcome::Incomplete,
    })
}

fn print_json(out: &mut impl Write, found: &Exploration) -> io::Result<()> {
    let pairs: Vec<String> =
        found.races.keys().map(|pair| format!("[{}, {}]", pair.first(), pair.second())).collect();
    write!(out, "{{\"races\": [{}]", pairs.join(", "))?;
    if !found.complete {
        write!(out, ", \"complete\": false")?;
    }
    writeln!(out, "}}")
}

fn print_text(out: &mut impl Write, trace: &Trace, found: &Exploration) -> io::Result<()> {
    let mut printer = trace.printer();
    for (pair, schedule) in &found.races {
        writeln!(out, "race ({}, {})", pair.first(), pair.second())?;
        for event in [pair.first(), pair.second()] {
            writeln!(out, "{:>8}  {}", event.number(), printer.event(event))?;
        }
        writeln!(out, "{:>8}  {}\n", "witness", numbers(schedule))?;
    }
    let races = match found.races.len() {
        0 => "no race".to_owned(),
        1 => "1 race".to_owned(),
        count => format!("{count} races"),
    };
    let scope = if found.complete { "all of them" } else { "not all" };
    writeln!(out, "{races} in {} events; {} states explored, {scope}", trace.len(), found.states)
}

fn numbers(schedule: &[EventId]) -> String {
    let numbers: Vec<String> = schedule.iter().map(ToString::to_string).collect();
    numbers.join(" ")
}
