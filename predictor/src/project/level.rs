//! How sure a finding is.
//!
//! A schedule that the checker accepts proves a race of what was recorded. Whether it is one of the
//! program depends on what was not recorded: a lock of std's orders accesses, and the trace says
//! nothing of it. So a finding is an error if it has happened, or if nothing is known that could
//! have hidden an order from the capture; else it is a warning, which says what the doubt is.

use super::Project;
use crate::finding::{Basis, Doubt, Finding, Level, Named, Occurrence, Replay, Spots};
use crate::unrecorded::{Unrecorded, Use, What};

impl Project {
    /// Finds out how sure each finding is, from what was recorded, replayed and read in the
    /// sources.
    pub fn judge(&mut self) {
        self.capture = self.what_was_not_seen();
        let judged: Vec<(Level, Vec<Doubt>)> =
            self.findings.iter().map(|finding| self.level(finding)).collect();
        for (finding, (level, doubts)) in self.findings.iter_mut().zip(judged) {
            finding.level = level;
            finding.doubts = doubts;
        }
    }

    fn level(&self, finding: &Finding) -> (Level, Vec<Doubt>) {
        let replays = || finding.occurrences.iter().filter_map(|one| one.replay.as_ref());
        if replays().any(|replay| replay.status.is_confirmed()) {
            return (Level::Proven, Vec::new());
        }
        let is_directed = finding.occurrences.iter().any(|one| one.directed.is_some());
        if is_directed || finding.kind.basis() == Basis::Happened {
            return (Level::Proven, Vec::new());
        }
        let mut doubts = Vec::new();
        if finding.kind.basis() == Basis::Suspicion {
            doubts.push(Doubt::Unsound);
        }
        if replays().any(Replay::was_tried) {
            doubts.push(Doubt::NotReplayed);
        }
        if finding.sources().any(|it| it.operation == "free" && it.place.is_none()) {
            doubts.push(Doubt::Destructor);
        }
        // One complete capture is enough.
        let captures = finding.occurrences.iter().map(|one| self.doubts_of_capture(one));
        doubts.extend(captures.min_by_key(Vec::len).unwrap_or_default());
        match (doubts.is_empty(), finding.kind.basis()) {
            (false, _) => (Level::Doubtful, doubts),
            (true, Basis::ObservedRun) => (Level::Proven, doubts),
            (true, _) => (Level::Predicted, doubts),
        }
    }

    /// What could order the two accesses, and is not in their trace.
    fn doubts_of_capture(&self, occurrence: &Occurrence) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        let Some(trace) = self.trace(&occurrence.trace) else { return doubts };
        let is_there = |spots: &Spots| (spots.number > 0).then(|| spots.clone());
        let foreign = is_there(&trace.foreign_threads);
        doubts.extend(foreign.map(|spots| Doubt::ForeignThreads { spots }));
        let unattributed = is_there(&trace.unattributed_threads);
        doubts.extend(unattributed.map(|spots| Doubt::UnattributedThreads { spots }));
        let Unrecorded { uses, crates, unread, .. } = &self.unrecorded;
        let is_there = |one: &&Use| trace.is_of(&one.programs);
        let some = |wanted: &[What]| {
            let all = || uses.iter().filter(is_there).filter(|one| wanted.contains(&one.what));
            let first = all().take(Spots::MOST);
            let named = |one: &Use| Named { name: one.name.clone(), place: one.place.clone() };
            (all().count() as u64, first.map(named).collect::<Vec<_>>())
        };
        let (number, uses) = some(&[What::Sync, What::Thread]);
        if number > 0 {
            doubts.push(Doubt::Unrecorded { number, uses });
        }
        let (number, uses) = some(&[What::ArcOrder]);
        if number > 0 {
            doubts.push(Doubt::Arc { number, uses });
        }
        let crates = crates.iter().filter(|one| trace.is_of(&one.programs));
        let names: Vec<String> = crates.map(|one| one.name.clone()).collect();
        if !names.is_empty() {
            doubts.push(Doubt::Crates { names });
        }
        let unread = unread.iter().filter(|one| trace.is_of(&one.programs));
        let files: Vec<String> = unread.map(|one| one.file.clone()).collect();
        if !files.is_empty() {
            doubts.push(Doubt::UnreadFiles { files });
        }
        doubts
    }

    /// Whether a finding is an error, and no mere warning: it is not doubtful, or that makes no
    /// difference here.
    pub fn is_error(&self, finding: &Finding) -> bool {
        finding.level != Level::Doubtful || self.strict
    }

    /// The findings that fail a build: errors that count.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.open_findings().filter(|finding| self.is_error(finding))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Detector, analyze};
    use crate::finding::{Place, ReplayStatus};
    use crate::predict::Options;
    use crate::project::{Analysed, Collector, NoSources};
    use crate::trace::Trace;

    const RACE: &str = "t0 fork t1\nt0 fork t2\nt1 write x 1 @ a.rs:1:1\nt2 write x 2 @ a.rs:2:2\n";

    /// A flag whose orderings are too weak: no schedule shows it.
    const WEAK: &str = "t0 fork t1\nt1 write x 1 @ a.rs:1:1\nt1 store f 1 relaxed\n\
                        t0 load f 1 relaxed\nt0 branch\nt0 read x 1 @ a.rs:2:2\n";

    /// The report about a trace of the program `one`, with one finding.
    fn project(text: &str) -> Project {
        let trace: Trace =
            format!("#racelog program /b/one-0123456789abcdef\n{text}").parse().unwrap();
        let detectors = [Detector::Mcm, Detector::Hb];
        let report = analyze(&trace, "a.rlog", &detectors, &Options::default(), |_, _| {}).unwrap();
        let mut collector = Collector::new(None);
        collector.add(Analysed::new(&trace, &report, None, &[]));
        let project = collector.finish(&NoSources);
        assert_eq!(project.findings.len(), 1, "{project:#?}");
        project
    }

    fn judged(mut project: Project) -> (Level, Vec<Doubt>) {
        project.judge();
        let finding = project.findings.remove(0);
        (finding.level, finding.doubts)
    }

    fn used(what: What, program: &str) -> Unrecorded {
        let place: Place = "b.rs:3:5".parse().unwrap();
        let programs = vec![program.to_owned()];
        let uses = vec![Use { place, name: "std::sync::Mutex".to_owned(), what, programs }];
        Unrecorded { uses, ..Unrecorded::default() }
    }

    #[test]
    fn a_complete_capture_is_believed() {
        assert_eq!(judged(project(RACE)), (Level::Predicted, Vec::new()));
        assert_eq!(judged(project(WEAK)), (Level::Proven, Vec::new()));
        let project = project(RACE);
        assert!(project.capture.is_complete() && project.errors().count() == 1);
    }

    #[test]
    fn what_could_order_the_two_is_a_doubt() {
        for text in [RACE, WEAK] {
            for (what, is_doubt) in [
                (What::Sync, true),
                (What::Thread, true),
                (What::ArcOrder, true),
                (What::Arc, false),
            ] {
                let mut project = project(text);
                project.unrecorded = used(what, "one");
                let (level, doubts) = judged(project.clone());
                assert_eq!((level == Level::Doubtful, doubts.len() == 1), (is_doubt, is_doubt));
                project.unrecorded = used(what, "other");
                assert_ne!(judged(project).0, Level::Doubtful, "that program has no such code");
            }
        }
        let foreign = format!("#racelog foreign t9\nt9 read y 0 @ c.rs:7:7\n{RACE}");
        let (level, doubts) = judged(project(&foreign));
        let spots = Spots { number: 1, places: vec!["c.rs:7:7".parse().unwrap()] };
        assert_eq!((level, doubts), (Level::Doubtful, vec![Doubt::ForeignThreads { spots }]));
    }

    #[test]
    fn a_free_by_a_destructor_is_believed_if_it_was_replayed() {
        let by_hand = "#racelog freed x\n".to_owned() + RACE;
        assert_eq!(judged(project(&by_hand)), (Level::Predicted, Vec::new()));
        let mut project = project(&by_hand.replace(" @ a.rs:2:2", ""));
        assert_eq!(judged(project.clone()), (Level::Doubtful, vec![Doubt::Destructor]));
        let status = ReplayStatus::Confirmed;
        let replay = Replay { status, lines: Vec::new(), cause: None, replayed: None };
        project.findings[0].occurrences[0].replay = Some(replay);
        assert_eq!(judged(project), (Level::Proven, Vec::new()));
    }

    #[test]
    fn what_only_hides_races_is_no_doubt() {
        let unseen = format!("t0 assert raw pointer of a cell @ c.rs:7:7\n{RACE}");
        let project = project(&unseen);
        assert_eq!(project.capture.unseen_pointers.number, 1);
        assert_eq!(judged(project).0, Level::Predicted);
    }

    #[test]
    fn a_replay_decides() {
        let replayed = |status| {
            let mut project = project(RACE);
            project.unrecorded = used(What::Sync, "one");
            let lines = Vec::new();
            let replay = Replay { status, lines, cause: None, replayed: None };
            project.findings[0].occurrences[0].replay = Some(replay);
            project
        };
        assert_eq!(judged(replayed(ReplayStatus::Confirmed)), (Level::Proven, Vec::new()));
        let (level, doubts) = judged(replayed(ReplayStatus::Diverged));
        assert_eq!((level, doubts.len(), &doubts[0]), (Level::Doubtful, 2, &Doubt::NotReplayed));
        let mut untried = replayed(ReplayStatus::Failed);
        untried.unrecorded = Unrecorded::default();
        assert_eq!(judged(untried), (Level::Predicted, Vec::new()), "nothing is known from it");
    }

    #[test]
    fn doubts_fail_only_where_that_is_asked_for() {
        let mut project = project(RACE);
        project.unrecorded = used(What::Sync, "one");
        project.judge();
        assert_eq!((project.open_findings().count(), project.errors().count()), (1, 0));
        project.strict = true;
        assert_eq!(project.errors().count(), 1);
    }
}
