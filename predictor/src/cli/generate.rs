//! `predictor generate`

use racelog::trace::{End, Metadata};

use super::args::Generate;
use super::output::{Output, output_format};
use super::{Failure, Outcome};
use crate::trace::format::{Sink, SinkError};

pub(super) fn run(args: &Generate) -> Result<Outcome, Failure> {
    let plan = args.plan();
    plan.check().map_err(Failure::Message)?;
    let to = output_format(args.to, &args.output)?;
    let failure = |error| Output::failure(&args.output, error);
    let output = Output::create(&args.output)?;
    // What has no value in STD has none in the program either.
    let mut sink = Sink::new(output, to, &Metadata::default(), true).map_err(failure)?;
    let made = plan.make(|dictionary, item| sink.write(dictionary, item));
    let dictionary = made.map_err(|error| match error {
        SinkError::Io(error) => failure(error),
        other => Failure::of(args.output.display(), other),
    })?;
    let (output, _) = sink.finish(&dictionary, End::Clean).map_err(failure)?;
    output.keep()?;
    Ok(Outcome::NothingFound)
}
