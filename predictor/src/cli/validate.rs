//! `predictor validate`

use std::io::Write;

use super::args::Validate;
use super::input::Input;
use super::{Failure, Outcome, say, terminal};

pub(super) fn run(args: &Validate) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::NothingFound;
    for path in &args.paths {
        let input = Input::open(path, args.from.format);
        let loaded = input.and_then(|input| Ok((input.name(), input.load()?)));
        match loaded {
            Ok((name, trace)) => {
                let (events, threads) = (trace.len(), trace.thread_count());
                let mut out = terminal::stdout(terminal::Kind::Text);
                writeln!(out, "{name}: valid: {events} events of {threads} threads")?;
                out.flush()?;
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
