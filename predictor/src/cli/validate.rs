//! `predictor validate`

use std::io::{self, Write};

use super::args::Validate;
use super::input::Input;
use super::{Failure, Outcome};

pub(super) fn run(args: &Validate) -> Result<Outcome, Failure> {
    let input = Input::of_args(&args.input)?;
    let name = input.name();
    let trace = input.load()?;
    let (events, threads) = (trace.len(), trace.thread_count());
    writeln!(io::stdout(), "{name}: valid: {events} events of {threads} threads")?;
    Ok(Outcome::NothingFound)
}
