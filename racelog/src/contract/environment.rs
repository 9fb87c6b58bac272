//! The variables of the environment, by name.
//!
//! [`Variable`] has those that a program which links racelog looks at, [`Setting`] those that stand
//! for flags of `cargo racelog`. Both can be handed to `std::env::var` and `Command::env` as they
//! are. `docs/USER_GUIDE.md` has them all, in tables.

use std::ffi::OsStr;
use std::fmt;

/// A variable that a program which links racelog looks at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Variable {
    /// `1`: the program is recorded.
    Record,
    /// The folder that traces go to.
    Folder,
    /// How large a trace may become, such as `100m`.
    MaxBytes,
    /// A seed: `explore` and `#[racelog::test]` run the one schedule that it decides.
    Seed,
    /// A seed: the whole process runs under control, by that seed.
    Control,
    /// Two places in the source, with a comma between: the race that a `race:` seed in
    /// [`Control`](Self::Control) is directed to, and that other seeds look out for.
    Race,
    /// Places in the source, with commas between: what a `circle:`, `between:` or `wait:` seed in
    /// [`Control`](Self::Control) goes by.
    Places,
    /// A file with a schedule: the process is recorded, and replays it.
    Schedule,
    /// The file that the program describes its run in.
    Outcome,
    /// After so many steps a process under control that has not ended counts as a livelock.
    MaxSteps,
    /// When racelog is built: `own`, if a program that links it has an allocator of its own. Its
    /// build script looks at it.
    Allocator,
}

impl Variable {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Record,
        Self::Folder,
        Self::MaxBytes,
        Self::Seed,
        Self::Control,
        Self::Race,
        Self::Places,
        Self::Schedule,
        Self::Outcome,
        Self::MaxSteps,
        Self::Allocator,
    ];

    /// Those that put a program, or a part of it, under control.
    pub const CONTROLLING: [Self; 5] =
        [Self::Seed, Self::Control, Self::Race, Self::Places, Self::Schedule];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Record => "RACELOG",
            Self::Folder => "RACELOG_DIR",
            Self::MaxBytes => "RACELOG_MAX_BYTES",
            Self::Seed => "RACELOG_SEED",
            Self::Control => "RACELOG_CONTROL",
            Self::Race => "RACELOG_RACE",
            Self::Places => "RACELOG_PLACES",
            Self::Schedule => "RACELOG_SCHEDULE",
            Self::Outcome => "RACELOG_OUTCOME",
            Self::MaxSteps => "RACELOG_MAX_STEPS",
            Self::Allocator => "RACELOG_ALLOCATOR",
        }
    }
}

/// The value of [`Variable::Record`] that turns recording on.
pub const RECORD_ON: &str = "1";

/// The value of [`Variable::Allocator`] without which racelog's allocator is the program's.
pub const OWN_ALLOCATOR: &str = "own";

/// A variable that stands for a flag of `cargo racelog`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Setting {
    /// How many events are looked at at a time.
    Window,
    /// Seconds for one pair.
    PairTime,
    /// Seconds for one trace.
    TotalTime,
    /// How many pairs of the same two places are tried.
    PairsPerSignature,
    /// The solver.
    Solver,
    /// The detectors that run.
    Detectors,
    /// What is looked for.
    Goals,
    /// Whether possible deadlocks are listed that are not proven.
    Suspects,
    /// How much is done at a time.
    Jobs,
    /// Whether predictions are confirmed by runs of the program.
    Confirm,
    /// Whether doubtful findings are errors, too.
    Strict,
    /// Seconds for each run that confirms.
    RunTime,
    /// Seconds for runs that try what is suspected.
    ExploreTime,
    /// Seconds for each program or test binary that is recorded.
    TestTime,
    /// Prefixes that are taken off the names of source files.
    Strip,
    /// A report: only findings that it does not have count.
    Baseline,
}

impl Setting {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Window,
        Self::PairTime,
        Self::TotalTime,
        Self::PairsPerSignature,
        Self::Solver,
        Self::Detectors,
        Self::Goals,
        Self::Suspects,
        Self::Jobs,
        Self::Confirm,
        Self::Strict,
        Self::RunTime,
        Self::ExploreTime,
        Self::TestTime,
        Self::Strip,
        Self::Baseline,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Window => "RACELOG_WINDOW",
            Self::PairTime => "RACELOG_PAIR_TIME",
            Self::TotalTime => "RACELOG_TOTAL_TIME",
            Self::PairsPerSignature => "RACELOG_PAIRS_PER_SIGNATURE",
            Self::Solver => "RACELOG_SOLVER",
            Self::Detectors => "RACELOG_DETECTORS",
            Self::Goals => "RACELOG_GOALS",
            Self::Suspects => "RACELOG_SUSPECTS",
            Self::Jobs => "RACELOG_JOBS",
            Self::Confirm => "RACELOG_CONFIRM",
            Self::Strict => "RACELOG_STRICT",
            Self::RunTime => "RACELOG_RUN_TIME",
            Self::ExploreTime => "RACELOG_EXPLORE_TIME",
            Self::TestTime => "RACELOG_TEST_TIME",
            Self::Strip => "RACELOG_STRIP",
            Self::Baseline => "RACELOG_BASELINE",
        }
    }
}

macro_rules! is_its_name {
    ($($kind:ty),*) => {$(
        impl AsRef<OsStr> for $kind {
            fn as_ref(&self) -> &OsStr {
                OsStr::new(self.name())
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    )*};
}

is_its_name!(Variable, Setting);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_variable_has_a_name_of_its_own() {
        let mut names: BTreeSet<&str> = Variable::ALL.map(Variable::name).into();
        names.extend(Setting::ALL.map(Setting::name));
        assert_eq!(names.len(), Variable::ALL.len() + Setting::ALL.len());
        assert!(names.iter().all(|name| name.starts_with("RACELOG")));
        assert_eq!(Variable::Seed.to_string(), Variable::Seed.as_ref().to_string_lossy());
    }
}
