//! What was found out by running programs outlives the report that first said it.

use super::Project;
use crate::finding::Occurrence;

impl Project {
    /// Takes over what came of replays from an earlier report, where a race is the same in a trace
    /// that is the same.
    pub fn keep_replays(&mut self, before: &Self, is_same_trace: impl Fn(&str) -> bool) {
        let known: Vec<&Occurrence> = before
            .findings
            .iter()
            .flat_map(|finding| &finding.occurrences)
            .filter(|occurrence| occurrence.replay.is_some() && is_same_trace(&occurrence.trace))
            .collect();
        for occurrence in self.findings.iter_mut().flat_map(|finding| &mut finding.occurrences) {
            let same = known.iter().find(|known| {
                known.trace == occurrence.trace && known.witness == occurrence.witness
            });
            if let (None, Some(known)) = (&occurrence.replay, same) {
                occurrence.replay.clone_from(&known.replay);
            }
        }
    }
}
