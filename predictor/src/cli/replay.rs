//! `predictor replay`

use std::io::{self, Write};

use racelog::interrupt;

use super::args::{AnalysisFormat, Replay};
use super::input::Input;
use super::program::explain_by_program;
use super::witness::{Decision, decide};
use super::{Failure, Outcome, say, terminal};
use crate::child::controlled::ControlledProgram;
use crate::render::write_replay;
use crate::replay::{Ending, NO_PLAN, Plan, Replayed};

pub(super) fn run(args: &Replay) -> Result<Outcome, Failure> {
    let input = Input::of_args(&args.input)?;
    let name = input.name();
    let trace = input.load()?;
    let witness = match decide(&trace, &name, &args.events, &args.effort)? {
        Decision::Proven(witness) => witness,
        Decision::Nothing(what) => {
            return Err(Failure::of(name, format!("there is nothing to replay: {what}")));
        }
    };
    let plan = Plan::new(&trace, &witness).ok_or_else(|| Failure::of(&name, NO_PLAN))?;
    let program = ControlledProgram::new(&args.command, args.run_time);
    interrupt::note_first();
    let ended = program.replay(&plan, &plan.report_names(&[]));
    if let Some(signal) = interrupt::noted() {
        say("error", "interrupted");
        return Ok(Outcome::Interrupted(signal));
    }
    interrupt::as_usual();
    let recorded = Ending::recorded(&trace, &[]);
    let mut replayed = Replayed::new(plan.target(), ended?, recorded);
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
