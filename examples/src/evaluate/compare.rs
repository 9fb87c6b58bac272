//! What several detectors find in one trace, held against each other.

use std::collections::BTreeSet;

use predictor::analysis::{Detector, Found, LONGEST, detect};
use predictor::goal::{Pair, Signature};
use predictor::order::weak_links;
use predictor::predict::Options;
use predictor::trace::{EventId, Trace};

/// What each detector finds.
#[derive(Debug)]
pub struct Comparison {
    found: Vec<(Detector, Found)>,
}

/// A pair that a detector reports and `mcm` does not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excess {
    /// Who reports it.
    pub detector: Detector,
    /// The two accesses.
    pub pair: Pair,
    /// Where they stand, and why it is reported as far as that is known.
    pub text: String,
}

/// Whether all that `said` finds is found by `mcm`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contained {
    /// It is.
    Yes,
    /// It is not, and `mcm` has decided everything: a bug.
    No,
    /// It is not, but `mcm` has left pairs open.
    Open,
}

impl Comparison {
    /// Runs all detectors of races on a trace.
    pub fn new(trace: &Trace, options: &Options) -> Self {
        let run = |detector| (detector, detect(trace, detector, options, |_, _| {}));
        Self { found: Detector::OF_RACES.into_iter().map(run).collect() }
    }

    /// What one of them has found.
    pub fn of(&self, detector: Detector) -> &Found {
        let found = self.found.iter().find(|(other, _)| *other == detector);
        &found.expect("all detectors of races have run").1
    }

    /// How many races one of them has found, for a cell; or why it does not know.
    pub fn cell(&self, trace: &Trace, detector: Detector) -> String {
        count(trace, detector, self.of(detector))
    }

    /// Whether `mcm` finds all that `said` finds.
    pub fn said_is_contained(&self, trace: &Trace) -> Contained {
        let known = self.signatures(trace, Detector::Mcm);
        match self.signatures(trace, Detector::Said).is_subset(&known) {
            true => Contained::Yes,
            false if self.of(Detector::Mcm).unknown > 0 => Contained::Open,
            false => Contained::No,
        }
    }

    /// What `hb`, `cp`, `wcp` and `paper` report and `mcm` does not.
    pub fn excess(&self, trace: &Trace) -> Vec<Excess> {
        let known = self.signatures(trace, Detector::Mcm);
        let mut excess = Vec::new();
        for detector in [Detector::Hb, Detector::Cp, Detector::Wcp, Detector::Paper] {
            for pair in self.of(detector).races() {
                if !known.contains(&pair.signature(trace)) {
                    let text = describe(trace, detector, pair);
                    excess.push(Excess { detector, pair, text });
                }
            }
        }
        excess
    }

    fn signatures(&self, trace: &Trace, detector: Detector) -> BTreeSet<Signature> {
        self.of(detector).races().map(|pair| pair.signature(trace)).collect()
    }
}

/// How many races a detector has found in a trace, for a cell; or why it does not know.
pub(super) fn count(trace: &Trace, detector: Detector, found: &Found) -> String {
    let is_whole = matches!(detector, Detector::Said | Detector::Paper);
    match (found.found.len(), found.unknown) {
        (races, 0) => races.to_string(),
        _ if is_whole && trace.len() > LONGEST => "too long".to_owned(),
        (races, unknown) => format!("{races}, {unknown} open"),
    }
}

fn describe(trace: &Trace, detector: Detector, pair: Pair) -> String {
    let mut printer = trace.printer();
    let mut place = |event: EventId| {
        let place = printer.location(event).unwrap_or_else(|| "an unknown place".to_owned());
        format!("{place} (event {})", event.number())
    };
    let mut text = format!("{} and {}", place(pair.first()), place(pair.second()));
    if detector == Detector::Hb {
        let weak: Vec<String> = weak_links(trace, pair)
            .iter()
            .map(|link| format!("{:?} at {}", link.ordering, place(link.event)))
            .collect();
        if !weak.is_empty() {
            text.push_str(&format!("; ordering too weak: {}", weak.join(", ")));
        }
    }
    text
}

/// Where the accesses of a pair stand: two lines of the source, sorted.
pub(super) fn lines(trace: &Trace, pair: Pair) -> Option<[String; 2]> {
    let mut printer = trace.printer();
    let mut line = |event| {
        let place = printer.location(event)?;
        Some(place.rsplit_once(':')?.0.to_owned())
    };
    let mut lines = [line(pair.first())?, line(pair.second())?];
    lines.sort();
    Some(lines)
}
