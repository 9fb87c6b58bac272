//! Traces with many pairs that are hard to tell from races: variables that no lock guards and that
//! few values go through.

use std::error::Error;

use predictor::encode::Forced;
use predictor::generate::Plan;
use predictor::goal::{Goal, Pair};
use predictor::index::Index;
use predictor::predict::{Candidates, Closed, Closures, HoldBack, MustOrder, Writes};
use predictor::trace::Trace;
use predictor::trace::format::{Format, Sink, Source};
use predictor::witness::Checker;
use racelog::trace::{End, Metadata};

/// A hard trace of about so many events.
pub fn trace(events: usize) -> Result<Trace, Box<dyn Error>> {
    let plan = Plan {
        events,
        unguarded: 0.3,
        near_races: 0,
        far_races: 0,
        vars: 40,
        locks: 5,
        seed: 1,
        ..Plan::default()
    };
    let mut sink = Sink::new(Vec::new(), Format::Binary, &Metadata::default(), false)?;
    let dictionary = plan.make(|dictionary, item| sink.write(dictionary, item))?;
    let (bytes, _) = sink.finish(&dictionary, End::Clean)?;
    Ok(Trace::load(&mut Source::of_bytes(bytes, Some(Format::Binary))?, |_| {})?)
}

/// What the cheap proofs know of a trace.
pub struct Known<'a> {
    trace: &'a Trace,
    index: Index,
    writes: Writes,
    plain: MustOrder,
    by_values: MustOrder,
}

impl<'a> Known<'a> {
    /// Follows a trace.
    pub fn new(trace: &'a Trace) -> Self {
        let (index, writes) = (Index::new(trace), Writes::new(trace));
        let plain = MustOrder::plain(trace, &index);
        let by_values = plain.by_values(trace, &index, &writes);
        Self { trace, index, writes, plain, by_values }
    }

    /// The index of the trace.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The pairs that neither locks nor orders rule out, in the trace's order; at most about so
    /// many, spread over the trace. Those that holding a thread back proves are left out.
    pub fn pairs(&self, most: usize) -> Vec<Pair> {
        let orders = [Some(&self.plain), Some(&self.by_values)];
        let candidates = Candidates::new(self.trace, &self.index.regions, true);
        let entries = 0..candidates.len();
        let mut pairs: Vec<Pair> =
            entries.flat_map(|entry| candidates.pairs(entry, self.trace, orders)).collect();
        pairs.sort_unstable();
        // Most pairs are not proven in this way, and to try all takes long.
        let step = (pairs.len() / most.saturating_mul(2)).max(1);
        let hold_back = HoldBack { trace: self.trace, index: &self.index };
        let hard = pairs.into_iter().step_by(step);
        spread(hard.filter(|pair| hold_back.attempt(&Goal::Race(*pair)).is_none()).collect(), most)
    }

    /// What following what a pair forces says of it.
    pub fn close(&self, pair: Pair, checker: &Checker<'_>) -> Closed {
        let (trace, index, writes) = (self.trace, &self.index, &self.writes);
        let orders = [Some(&self.plain), Some(&self.by_values)];
        Closures { trace, index, writes, orders }.decide(&Goal::Race(pair), checker, None)
    }

    /// Some of the pairs that all cheap proofs leave to a solver, spread over the trace, with what
    /// they force.
    pub fn questions(&self, most: usize) -> Vec<(Pair, Forced)> {
        let checker = Checker::new(self.trace);
        let open = |pair: Pair| match self.close(pair, &checker) {
            Closed::Open(forced) => Some((pair, forced)),
            _ => None,
        };
        spread(self.pairs(usize::MAX).into_iter().filter_map(open).collect(), most)
    }
}

/// So many of the items at most, at equal distances.
fn spread<T>(items: Vec<T>, most: usize) -> Vec<T> {
    let step = items.len().div_ceil(most).max(1);
    items.into_iter().step_by(step).collect()
}
