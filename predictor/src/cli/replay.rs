//! `predictor replay`

use std::io::{self, Write};

use racelog::interrupt;

use super::args::{AnalysisFormat, Replay};
use super::input::Input;
use super::program::explain_by_program;
use super::witness::{Decision, decide};
use super::{Failure, Outcome, say, terminal};
use crate::child::controlled::{Control, ControlledProgram};
use crate::render::write_replay;
use crate::replay::{Ending, NO_PLAN, Order, Plan, Replayed};

pub(super) fn run(args: &Replay) -> Result<Outcome, Failure> {
    let input = Input::of_args(&args.input)?;
    let name = input.name();
    let trace = input.load()?;
    let witness = match decide(&trace, &name, args.race, &args.effort)? {
        Decision::Race(schedule) => schedule,
        Decision::NoRace => {
            return Err(Failure::of(name, "there is nothing to replay: the pair is no race"));
        }
    };
    let plan = Plan::new(&trace, &witness).ok_or_else(|| Failure::of(&name, NO_PLAN))?;
    let program = ControlledProgram::new(&args.command, args.run_time);
    let names = plan.report_names(&[]);
    let run = |first: &String| {
        let ended = program.run(Control::Schedule(&plan.text(first)), &names)?;
        let (outcome, code, printed) = (ended.outcome, ended.end.code(), ended.printed);
        Ok::<_, Failure>(Order { first: plan.name(first).to_owned(), outcome, code, printed })
    };
    let [one, other] = plan.threads();
    interrupt::note_first();
    let ended = run(one).and_then(|first| Ok([first, run(other)?]));
    if let Some(signal) = interrupt::noted() {
        say("error", "interrupted");
        return Ok(Outcome::Interrupted(signal));
    }
    interrupt::as_usual();
    let recorded = Ending::recorded(&trace, &[]);
    let mut replayed = Replayed::new(ended?, recorded);
    explain_by_program(&mut replayed, trace.metadata());
    let mut out = terminal::stdout(args.format.kind());
    match args.format {
        AnalysisFormat::Text => write_replay(&mut out, &replayed)?,
        AnalysisFormat::Json => {
            serde_json::to_writer_pretty(&mut out, &replayed).map_err(io::Error::from)?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    if replayed.orders.iter().any(|order| !order.outcome.lost.is_empty()) {
        say("warning", "the program waits in ways that cannot be controlled");
    }
    Ok(if replayed.is_confirmed() { Outcome::NothingFound } else { Outcome::Found })
}
