//! `predictor witness`

use std::io::{self, BufWriter, Write};
use std::time::Instant;

use super::args::Witness;
use super::input::Input;
use super::{Failure, Outcome, say};
use crate::encode::{Index, Window};
use crate::predict::{Decider, Verdict};
use crate::race::{Pair, conflict};
use crate::semantics::Machine;
use crate::trace::{EventId, Trace};
use crate::witness::{Checker, switches};

pub(super) fn run(args: &Witness) -> Result<Outcome, Failure> {
    let input = Input::of_args(&args.input)?;
    let name = input.name();
    let trace = input.load()?;
    let pair = pair(&trace, args.race).map_err(|problem| Failure::of(&name, problem))?;
    let machine = Machine::new(&trace);
    let index = Index::new(&trace);
    let window = Window::whole(&machine);
    let solver = args.effort.solver.build();
    let deadline = Instant::now() + args.effort.pair_time;
    let checker = Checker::new(&machine);
    let mut decider = Decider::new(&trace, &index, &window, &checker, solver);
    match decider.decide(pair, Some(deadline)) {
        Verdict::Race(schedule) => {
            print(&trace, &schedule.events().collect::<Vec<_>>())?;
            Ok(Outcome::NothingFound)
        }
        Verdict::NoRace => {
            let [first, second] = [pair.first(), pair.second()];
            say("note", format_args!("{name}: ({first}, {second}) is no race"));
            Ok(Outcome::Found)
        }
        Verdict::Unknown => {
            Err(Failure::of(name, "the time was up before the pair was decided: raise --pair-time"))
        }
        Verdict::Unconfirmed(refutation) => {
            Err(Failure::of(name, format!("bug: the witness is not confirmed: {refutation}")))
        }
    }
}

fn pair(trace: &Trace, (first, second): (u64, u64)) -> Result<Pair, String> {
    let event = |number| {
        let event = EventId::from_number(number).filter(|event| trace.contains(*event));
        event.ok_or_else(|| {
            format!("there is no event {number}: the trace has {} events", trace.len())
        })
    };
    let (first, second) = (event(first)?, event(second)?);
    if !conflict(trace, first, second) {
        return Err(format!(
            "events {first} and {second} do not conflict: they are not accesses of one variable by \
             two threads, one of them a write and one of them not atomic"
        ));
    }
    Ok(Pair::new(first, second))
}

/// One event a line, in the form that `predictor check` reads.
fn print(trace: &Trace, schedule: &[EventId]) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut printer = trace.printer();
    writeln!(out, "# {} events, {} thread switches", schedule.len(), switches(trace, schedule))?;
    let racing = schedule.len().saturating_sub(2);
    for (place, event) in schedule.iter().enumerate() {
        if place == racing {
            writeln!(out, "# now both of these can happen:")?;
        }
        writeln!(out, "{:>8}  # {}", event.number(), printer.event(*event))?;
    }
    out.flush()
}
