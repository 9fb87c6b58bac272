//! Joins the reports of shards: what comes out is what one analysis of everything would have said.

use std::collections::BTreeMap;

use super::{Project, Shard, TraceInfo};
use crate::finding::{Finding, Kind, Occurrence, Part, Place, SourceOp};

/// Why reports cannot be joined.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MergeError {
    /// There is nothing to join.
    #[error("there is no report to merge")]
    Nothing,
    /// A report is not a shard's.
    #[error("report {0} is not that of a shard: it was made without --shard")]
    NoShard(usize),
    /// Shards of different cuts.
    #[error("shard {0} is of {1} shards, the first report is of {2}")]
    OtherCut(u32, u32, u32),
    /// A shard is there twice.
    #[error("shard {0} is there twice")]
    Twice(u32),
    /// Shards are missing.
    #[error("of {of} shards these are missing: {}", missing.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))]
    Missing {
        /// How many there should be.
        of: u32,
        /// Which are not there.
        missing: Vec<u32>,
    },
    /// The shards were not made from the same traces.
    #[error("the shards differ in the trace `{0}`: all shards must see the same traces")]
    OtherTraces(String),
    /// The shards were made by different versions.
    #[error("the shards were made by racelog {0} and {1}")]
    OtherVersion(String, String),
}

/// Joins the reports of all shards of one analysis.
pub fn merge(mut shards: Vec<Project>) -> Result<Project, MergeError> {
    check(&shards)?;
    shards.sort_by_key(|project| project.shard.map(|shard| shard.index));
    let mut shards = shards.into_iter();
    let mut all = shards.next().ok_or(MergeError::Nothing)?;
    all.shard = None;
    let mut findings = std::mem::take(&mut all.findings);
    for shard in shards {
        join_traces(&mut all.traces, shard.traces)?;
        if all.skipped != shard.skipped {
            let known = |name: &String| all.skipped.iter().any(|skipped| skipped.name == *name);
            let other = shard.skipped.iter().map(|skipped| &skipped.name).find(|name| !known(name));
            let name = other.or_else(|| all.skipped.first().map(|skipped| &skipped.name));
            return Err(MergeError::OtherTraces(name.cloned().unwrap_or_default()));
        }
        all.unrecorded.add(shard.unrecorded);
        all.goals = all.goals.and(shard.goals);
        findings.extend(shard.findings);
    }
    all.findings = join_findings(findings);
    all.fold();
    all.number();
    all.judge();
    Ok(all)
}

fn check(shards: &[Project]) -> Result<(), MergeError> {
    let first = shards.first().ok_or(MergeError::Nothing)?;
    let of = first.shard.ok_or(MergeError::NoShard(1))?.of;
    let mut there = vec![false; of as usize];
    for (project, number) in shards.iter().zip(1..) {
        let Shard { index, of: its } = project.shard.ok_or(MergeError::NoShard(number))?;
        if its != of || index == 0 || index > of {
            return Err(MergeError::OtherCut(index, its, of));
        }
        if project.racelog != first.racelog {
            let versions = (first.racelog.clone(), project.racelog.clone());
            return Err(MergeError::OtherVersion(versions.0, versions.1));
        }
        if std::mem::replace(&mut there[index as usize - 1], true) {
            return Err(MergeError::Twice(index));
        }
    }
    let missing: Vec<u32> = (1..=of).filter(|index| !there[*index as usize - 1]).collect();
    if missing.is_empty() { Ok(()) } else { Err(MergeError::Missing { of, missing }) }
}

fn join_traces(all: &mut [TraceInfo], shard: Vec<TraceInfo>) -> Result<(), MergeError> {
    if all.len() != shard.len() {
        let missing = shard.iter().zip(all.iter()).find(|(a, b)| a.name != b.name);
        let missing = missing.map(|(trace, _)| trace.name.clone());
        let last = || shard.last().or(all.last()).map(|trace| trace.name.clone());
        return Err(MergeError::OtherTraces(missing.or_else(last).unwrap_or_default()));
    }
    for (trace, other) in all.iter_mut().zip(shard) {
        if (&trace.name, trace.events, trace.threads) != (&other.name, other.events, other.threads)
            || trace.detectors.len() != other.detectors.len()
        {
            return Err(MergeError::OtherTraces(other.name));
        }
        for (run, more) in trace.detectors.iter_mut().zip(&other.detectors) {
            run.unknown += more.unknown;
            run.seconds += more.seconds;
        }
        if let (Some(counts), Some(more)) = (&mut trace.counts, &other.counts) {
            counts.add(more);
        }
    }
    Ok(())
}

/// Where a part stands; one that does not say so is told by its event.
type PlaceOrEvent = Result<Place, u64>;

/// One finding for one bug. Every shard says what the cheap detectors say, so the same places of a
/// trace come several times: what was predicted counts most.
fn join_findings(findings: Vec<Finding>) -> Vec<Finding> {
    let mut best: BTreeMap<(String, String, Vec<PlaceOrEvent>), (Finding, Occurrence)> =
        BTreeMap::new();
    for mut finding in findings {
        for occurrence in std::mem::take(&mut finding.occurrences) {
            let place = |part: &Part| part.source.place.clone().ok_or(part.event);
            let spots = occurrence.telling_parts().map(place).collect();
            let noun = finding.kind.noun().to_owned();
            let key = (occurrence.trace.clone(), noun, spots);
            let better = best.get(&key).is_none_or(|(there, _)| finding.kind < there.kind);
            if better {
                best.insert(key, (finding.clone(), occurrence));
            }
        }
    }
    let mut joined: BTreeMap<(Kind, String, Vec<SourceOp>), Finding> = BTreeMap::new();
    for (finding, occurrence) in best.into_values() {
        let key = (
            finding.kind.clone(),
            finding.fingerprint.clone(),
            occurrence.sources().cloned().collect(),
        );
        joined.entry(key).or_insert(finding).occurrences.push(occurrence);
    }
    joined.into_values().collect()
}
