//! What the capture did not see.
//!
//! What is not seen has two consequences. Where it may be what orders two accesses, a finding about
//! them is in doubt: `level` has that. And where nothing was found, that says less than it seems
//! to: so every report has the numbers of all that was not seen, and the first places of it.

use serde::{Deserialize, Serialize};

use super::{Project, TraceInfo};
use crate::finding::Spots;
use crate::unrecorded::What;

/// What was not seen in any of the traces of a project.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Capture {
    /// Raw pointers that left an `UnsafeCell`.
    pub unseen_pointers: Spots,
    /// References made from raw pointers whose uses are not followed.
    pub unseen_references: Spots,
    /// Threads that recorded code did not start.
    pub foreign_threads: Spots,
    /// Threads whose events were not recorded, since it was not known which test they belong to.
    pub unattributed_threads: Spots,
    /// Events that were lost: the file was full, or the program was killed.
    pub lost_events: u64,
    /// Uses of locks, atomics, channels and threads that are not racelog's.
    pub unrecorded: Spots,
    /// Uses of std's `Arc`.
    pub arcs: Spots,
    /// Macros in instrumented unsafe code that nobody looks into.
    pub hidden_macros: Spots,
    /// Dependencies that synchronise by themselves.
    pub crates: Vec<String>,
    /// Source files that could not be read, so that nothing is known of what they use.
    pub unread_files: Vec<String>,
}

impl Capture {
    /// Whether all was seen, as far as anybody knows.
    pub fn is_complete(&self) -> bool {
        *self == Self::default()
    }
}

impl Project {
    /// Sums up what was not seen.
    pub(super) fn what_was_not_seen(&self) -> Capture {
        let mut capture = Capture::default();
        for trace in &self.traces {
            capture.unseen_pointers.add(trace.unseen_pointers, &trace.unseen_places);
            capture.unseen_references.join(&trace.unseen_references);
            capture.hidden_macros.join(&trace.hidden_macros);
            capture.foreign_threads.join(&trace.foreign_threads);
            capture.unattributed_threads.join(&trace.unattributed_threads);
            capture.lost_events += trace.lost_events;
        }
        let sources = &self.unrecorded;
        for one in &sources.uses {
            let spots = match one.what {
                What::Sync | What::Thread => &mut capture.unrecorded,
                What::Arc | What::ArcOrder => &mut capture.arcs,
            };
            spots.add(1, [&one.place]);
        }
        capture.crates = sources.crates.iter().map(|one| one.name.clone()).collect();
        capture.unread_files = sources.unread.iter().map(|one| one.file.clone()).collect();
        capture
    }
}

impl TraceInfo {
    /// Whether code that is in these programs was in the program of this trace. Where that is not
    /// known, it was.
    pub(super) fn is_of(&self, programs: &[String]) -> bool {
        let Some(program) = self.program.as_deref() else { return true };
        let program = without_hash(program).replace('-', "_");
        programs.is_empty() || programs.contains(&program)
    }
}

/// The name of a program without the hash that cargo puts behind it.
pub(crate) fn without_hash(program: &str) -> &str {
    match program.rsplit_once('-') {
        Some((name, hash))
            if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
        {
            name
        }
        _ => program,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_go() {
        assert_eq!(without_hash("prog-e5859fbcc235757b"), "prog");
        assert_eq!(without_hash("my-prog"), "my-prog");
        assert_eq!(without_hash("my-prog-e5859fbcc235757b"), "my-prog");
    }
}
