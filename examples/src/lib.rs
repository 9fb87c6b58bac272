//! The classic programs of race prediction, written anew in Rust on racelog's types; and small
//! things to learn racelog from.
//!
//! Each program is a module that can be read in a minute: its docs say what it does and which bugs
//! it has, and its [`Program`] states its races by labels on the lines that race. [`programs`]
//! lists all of them. One binary runs them by their names:
//!
//! ```text
//! RACELOG=1 cargo run -p racelog-examples -- airline --size small
//! cargo run -p predictor -- analyze target/racelog/example-*.rlog
//! ```
//!
//! - [`contest`]: the exercises of IBM's ConTest project: a page each, and one mistake.
//! - [`grande`]: the kernels of the Java Grande benchmarks: numbers, phases and barriers.
//! - [`larger`]: crawlers, caches, pools, simulations.
//! - [`fusion`]: the examples of symbolic prediction, by number of threads.
//! - [`shapes`]: the data structures that concurrent Rust is made of.
//! - [`hangs`]: deadlocks, stalls and lost wake-ups.
//! - [`steps`]: steps that belong together, and what comes in between.
//!
//! [`evaluate`] records all of them and holds detectors against each other.
//!
//! Besides, `traces/` has traces in the text format, each with a comment that says what to see in
//! it; `src/lessons.rs` has tests that pass, and races all the same; `src/bin/racy_counter.rs` is
//! the smallest program with a race; `src/bin/write_trace.rs` writes a trace with the library,
//! event by event.

pub mod contest;
#[cfg(feature = "evaluate")]
pub mod evaluate;
pub mod fusion;
pub mod grande;
pub mod hangs;
pub mod larger;
pub mod shapes;
pub mod steps;

mod command;
mod labels;
#[cfg(test)]
mod lessons;
mod program;
mod turns;

pub use command::main;
pub use labels::{LabelError, Labels, Place};
pub use program::{Goal, GoalKind, Harm, Origin, Program, Race, Size, Source};

/// All programs.
pub fn programs() -> impl Iterator<Item = &'static Program> {
    let groups = [
        contest::PROGRAMS,
        grande::PROGRAMS,
        larger::PROGRAMS,
        fusion::PROGRAMS,
        shapes::PROGRAMS,
        hangs::PROGRAMS,
        steps::PROGRAMS,
    ];
    groups.into_iter().flatten().copied()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    use super::*;

    #[test]
    fn every_program_has_a_name_of_its_own_and_a_row_in_the_index() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let index = std::fs::read_to_string(folder.join("README.md")).unwrap();
        let mut names = BTreeSet::new();
        for program in programs() {
            let name = program.name;
            assert!(names.insert(name), "two programs are called `{name}`");
            let row = index.lines().find(|line| line.starts_with(&format!("| `{name}` | ")));
            let row = row.unwrap_or_else(|| panic!("README.md has no row for `{name}`"));
            let races = format!("| `{name}` | {}", program.races.len());
            assert!(row.starts_with(&races), "README.md: {races} is right");
            assert!(row.contains(program.about), "README.md: `{name}` is about something else");
        }
    }

    #[test]
    fn labels_and_races_belong_together() {
        let mut used: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for program in programs() {
            let places = program.expected().unwrap_or_else(|error| panic!("{error}"));
            let pairs: BTreeSet<_> = places.iter().collect();
            assert_eq!(pairs.len(), places.len(), "{}: a race is listed twice", program.name);
            let labels = program.races.iter().flat_map(|race| [race.labels.0, race.labels.1]);
            let used = used.entry(program.source.file).or_default();
            used.extend(labels);
            used.extend(program.goals.iter().flat_map(|goal| goal.labels));
            program.expected_goals().unwrap_or_else(|error| panic!("{error}"));
        }
        for program in programs() {
            let source = &program.source;
            for label in Labels::of(source).unwrap().names() {
                assert!(used[source.file].contains(label), "{}: `{label}` is idle", source.file);
            }
        }
    }
}
