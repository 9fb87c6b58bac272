//! One bug, one finding.
//!
//! Where a race is proven, happens-before usually leaves other accesses of the same variable
//! unordered in the same run: a counter that is read and written on both sides has three such
//! pairs. Those that no schedule shows are mentioned with the race that is proven instead of
//! standing beside it.

use std::collections::{BTreeMap, BTreeSet};

use super::Project;
use crate::finding::{Kind, Occurrence, Reason, SourceOp};

impl Project {
    /// Moves what is merely unordered to a proven race of the same variable in the same trace.
    pub(super) fn fold(&mut self) {
        let mut moved: BTreeMap<(String, String), Vec<Vec<SourceOp>>> = BTreeMap::new();
        let proven: BTreeSet<(String, String)> = self
            .findings
            .iter()
            .filter(|finding| finding.kind == Kind::DataRace)
            .flat_map(|finding| &finding.occurrences)
            .map(key_of)
            .collect();
        for finding in self.findings.iter_mut().filter(|f| f.kind == Kind::UnorderedRace) {
            let sources: Vec<SourceOp> = finding.sources().cloned().collect();
            finding.occurrences.retain(|occurrence| {
                let key = key_of(occurrence);
                let is_weak = matches!(occurrence.reason, Reason::OrderingTooWeak { .. });
                let stays = is_weak || !proven.contains(&key);
                if !stays {
                    moved.entry(key).or_default().push(sources.clone());
                }
                stays
            });
        }
        self.findings.retain(|finding| !finding.occurrences.is_empty());
        self.findings.sort_by(|a, b| a.sources().cmp(b.sources()));
        for finding in self.findings.iter_mut().filter(|f| f.kind == Kind::DataRace) {
            for occurrence in &mut finding.occurrences {
                let key = key_of(occurrence);
                // The first race of the variable has them all.
                let mut also = moved.remove(&key).unwrap_or_default();
                also.sort();
                occurrence.also = also;
            }
        }
    }
}

/// The trace and the variable.
fn key_of(occurrence: &Occurrence) -> (String, String) {
    (occurrence.trace.clone(), occurrence.subject_name().to_owned())
}
