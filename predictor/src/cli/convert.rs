//! `predictor convert`

use racelog::trace::End;

use super::args::Convert;
use super::input::Input;
use super::output::{Output, output_format};
use super::{Failure, Outcome, say};
use crate::trace::format::{Sink, SinkError};

pub(super) fn run(args: &Convert) -> Result<Outcome, Failure> {
    let to = output_format(args.to, &args.output)?;
    let mut input = Input::open(&args.input, args.from.format)?;
    let output = Output::create(&args.output)?;
    let failure = |error| Output::failure(&args.output, error);
    let metadata = input.source().metadata();
    let mut sink = Sink::new(output, to, &metadata, args.lossy).map_err(failure)?;
    while let Some(item) = input.next_item() {
        sink.write(input.source().dictionary(), &item).map_err(|error| match error {
            SinkError::Io(error) => failure(error),
            other => Failure::of(input.name(), other),
        })?;
    }
    let end = if input.is_damaged() { End::CutOff } else { input.source().end() };
    sink.set_lost_events(input.source().lost_events());
    let (output, left_out) = sink.finish(input.source().dictionary(), end).map_err(failure)?;
    output.keep()?;
    if left_out.meaningful > 0 {
        let count = left_out.meaningful;
        say(
            "warning",
            format_args!("{}: {count} events that STD cannot express were left out", input.name()),
        );
    }
    Ok(if input.is_damaged() { Outcome::Incomplete } else { Outcome::NothingFound })
}
