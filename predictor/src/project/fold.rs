//! One bug, one finding.
//!
//! Where a race is proven, happens-before usually leaves other accesses of the same variable unordered
//! in the same run: a counter that is read and written on both sides has three such pairs. Those that no
//! schedule shows are mentioned with the race that is proven instead of standing beside it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Code, Project, Side};
use crate::report::ReasonKind;

impl Project {
    /// Moves what is merely unordered to a proven race of the same variable in the same trace.
    pub(super) fn fold(&mut self) {
        let mut moved: BTreeMap<(String, String), Vec<[Side; 2]>> = BTreeMap::new();
        let proven: BTreeSet<(String, String)> = self
            .findings
            .iter()
            .filter(|finding| finding.code == Code::DataRace)
            .flat_map(|finding| &finding.occurrences)
            .map(|occurrence| (occurrence.trace.clone(), occurrence.variable.name.clone()))
            .collect();
        for finding in self.findings.iter_mut().filter(|f| f.code == Code::Unordered) {
            let sides = finding.sides.clone();
            finding.occurrences.retain(|occurrence| {
                let key = (occurrence.trace.clone(), occurrence.variable.name.clone());
                let stays =
                    occurrence.reason.kind == ReasonKind::OrderingTooWeak || !proven.contains(&key);
                if !stays {
                    moved.entry(key).or_default().push(sides.clone());
                }
                stays
            });
        }
        self.findings.retain(|finding| !finding.occurrences.is_empty());
        self.findings.sort_by(|a, b| a.sides.cmp(&b.sides));
        for finding in self.findings.iter_mut().filter(|f| f.code == Code::DataRace) {
            for occurrence in &mut finding.occurrences {
                let key = (occurrence.trace.clone(), occurrence.variable.name.clone());
                // The first race of the variable has them all.
                let mut also = moved.remove(&key).unwrap_or_default();
                also.sort();
                occurrence.also = also;
            }
        }
    }
}
