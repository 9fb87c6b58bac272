//! `predictor validate`

use std::io::{self, Write};

use super::args::Validate;
use super::input::Input;
use super::{Failure, Outcome, say};

pub(super) fn run(args: &Validate) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::NothingFound;
    for path in &args.paths {
        let input = Input::open(path, args.from.format);
        let loaded = input.and_then(|input| Ok((input.name(), input.load()?)));
        match loaded {
            Ok((name, trace)) => {
                let (events, threads) = (trace.len(), trace.thread_count());
                writeln!(io::stdout(), "{name}: valid: {events} events of {threads} threads")?;
            }
            // The others are looked at all the same.
            Err(Failure::Message(message)) => {
                say("error", message);
                outcome = Outcome::Incomplete;
            }
            Err(broken @ Failure::BrokenPipe) => return Err(broken),
        }
    }
    Ok(outcome)
}
