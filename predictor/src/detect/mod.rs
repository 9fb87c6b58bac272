//! The detectors that ours is compared with, one a file.
//!
//! - [`hb`]: happens-before. Says of the observed run itself that it had a data race.
//! - [`cp`]: causally-precedes. Predicts a little more, at a polynomial price.
//! - [`wcp`]: weak causal precedence. Predicts more than that, at a linear price.
//! - [`quick`]: locksets and what is ordered in every execution. Reports every race, and much that
//!   is none: a filter for what comes after, not a verdict.
//! - [`said`]: all reads of the whole trace keep their values. Sound, and blind to control flow.
//! - [`paper`]: the formula of the PLDI 2014 paper as printed. Neither sound nor maximal.
//! - [`deadlock`]: deadlocks that keep the order of locks, and lock-order circles, by closed sets
//!   of events.
//!
//! docs/ALGORITHM.md says what each guarantees.

mod closed_set;
pub mod cp;
pub mod deadlock;
pub mod hb;
mod history;
pub mod paper;
pub mod quick;
pub mod said;
mod scan;
mod sections;
pub mod wcp;
mod whole_trace;

use rustc_hash::FxHashSet;

pub use self::whole_trace::Claim;

use crate::goal::{Pair, Signature};
use crate::trace::Trace;

/// What to report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// One pair for each [`Signature`]: of its pairs, the one that ends first.
    Signatures,
    /// Every pair. Their number may be quadratic in the length of the trace.
    AllPairs,
}

/// What a detector found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Findings {
    /// The pairs, sorted.
    pub pairs: Vec<Pair>,
    /// Where the detector did not look.
    pub limits: Limits,
}

/// Where a detector did not look: there may be more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// How many accesses were forgotten because their thread has accessed the same variable at too
    /// many other places since. Later accesses were not held against them.
    pub forgotten: u64,
    /// Into how many windows the trace was cut, if there is more than one. Pairs across windows
    /// were not looked at.
    pub windows: Option<usize>,
}

impl Limits {
    /// Whether all there is was found.
    pub fn is_complete(self) -> bool {
        self == Self::default()
    }
}

/// Collects pairs.
#[derive(Debug)]
struct Collector<'a> {
    trace: &'a Trace,
    scope: Scope,
    pairs: Vec<Pair>,
    signatures: FxHashSet<Signature>,
}

impl<'a> Collector<'a> {
    fn new(trace: &'a Trace, scope: Scope) -> Self {
        Self { trace, scope, pairs: Vec::new(), signatures: FxHashSet::default() }
    }

    /// Adds a pair. The later access of each must not precede that of one added before.
    fn add(&mut self, pair: Pair) {
        // Accesses of the same memory may be of other bytes.
        if !self.trace.overlap(pair.first(), pair.second()) {
            return;
        }
        let new = match self.scope {
            Scope::AllPairs => true,
            Scope::Signatures => self.signatures.insert(pair.signature(self.trace)),
        };
        if new {
            self.pairs.push(pair);
        }
    }

    fn finish(mut self, limits: Limits) -> Findings {
        self.pairs.sort_unstable();
        Findings { pairs: self.pairs, limits }
    }
}
