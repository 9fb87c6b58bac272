//! Settings: flags, then `RACELOG_*` variables, then `racelog.toml`, then what is usual.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use racelog::contract::environment::Setting;
use serde::Deserialize;

use super::super::Failure;
use super::super::args::seconds;
use crate::analysis::Detector;
use crate::finding::{Kind, Place};
use crate::goal::GoalKinds;
use crate::predict::Options;
use crate::project::{Settings, Shard, Suppression};
use crate::solve::SolverKind;

/// The file of the settings, at the root of the workspace.
pub(super) const FILE: &str = "racelog.toml";

/// What can be set on the command line or by a variable.
#[derive(Debug, Default, Clone, clap::Args)]
pub(super) struct Flags {
    /// Look at so many events at a time, or `all`
    #[arg(long, value_name = "EVENTS", env = Setting::Window.name(), value_parser = window)]
    pub(super) window: Option<Window>,
    /// Think so many seconds about one pair
    #[arg(long, value_name = "SECONDS", env = Setting::PairTime.name(), value_parser = seconds)]
    pub(super) pair_time: Option<Duration>,
    /// Think so many seconds about one trace
    #[arg(long, value_name = "SECONDS", env = Setting::TotalTime.name(), value_parser = seconds)]
    pub(super) total_time: Option<Duration>,
    /// Try so many pairs of the same two places
    #[arg(long, value_name = "N", env = Setting::PairsPerSignature.name())]
    pub(super) pairs_per_signature: Option<usize>,
    /// Who decides: order, or one that this build has besides
    #[arg(long, value_name = "SOLVER", env = Setting::Solver.name())]
    pub(super) solver: Option<SolverKind>,
    /// Which detectors run, such as mcm,hb
    #[arg(long, value_name = "NAMES", env = Setting::Detectors.name(), value_delimiter = ',')]
    pub(super) detectors: Vec<Detector>,
    /// What to look for: races, deadlocks, stalls, sends, checks, atomicity (separated by commas)
    /// or all
    #[arg(long, value_name = "GOALS", env = Setting::Goals.name())]
    pub(super) goals: Option<GoalKinds>,
    /// List possible deadlocks, too, that are not proven
    #[arg(long, value_name = "BOOL", env = Setting::Suspects.name(), num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) suspects: Option<bool>,
    /// Do so much at a time
    #[arg(short, long, value_name = "N", env = Setting::Jobs.name(), value_parser = clap::value_parser!(u64).range(1..1024))]
    pub(super) jobs: Option<u64>,
    /// Whether what was predicted is confirmed by running the program again
    #[arg(long, value_name = "BOOL", env = Setting::Confirm.name())]
    pub(super) confirm: Option<bool>,
    /// Fail on doubtful findings, too
    #[arg(long, value_name = "BOOL", env = Setting::Strict.name(), num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) strict: Option<bool>,
    /// Wait so many seconds for each run that confirms
    #[arg(long, value_name = "SECONDS", env = Setting::RunTime.name(), value_parser = seconds)]
    pub(super) run_time: Option<Duration>,
    /// Try what is suspected and not proven in runs under control, for so many seconds at most; 0:
    /// not at all [default: as long as the programs ran, and 5 at least]
    #[arg(long, value_name = "SECONDS", env = Setting::ExploreTime.name(), value_parser = seconds_or_none)]
    pub(super) explore_time: Option<Duration>,
    /// End programs and tests that run for longer than so many seconds
    #[arg(long, value_name = "SECONDS", env = Setting::TestTime.name(), value_parser = seconds)]
    pub(super) test_time: Option<Duration>,
    /// Take this off the names of source files (may be given again)
    #[arg(long, value_name = "PREFIX", env = Setting::Strip.name(), value_delimiter = ',')]
    pub(super) strip: Vec<String>,
    /// Fail on what this report, an earlier one as JSON, does not have
    #[arg(long, value_name = "FILE", env = Setting::Baseline.name())]
    pub(super) baseline: Option<PathBuf>,
}

/// A time that may be none at all.
fn seconds_or_none(text: &str) -> Result<Duration, String> {
    if text.parse() == Ok(0.0) { Ok(Duration::ZERO) } else { seconds(text) }
}

/// How many events to look at at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window(Option<usize>);

fn window(text: &str) -> Result<Window, String> {
    match text.parse::<usize>() {
        _ if text == "all" => Ok(Window(None)),
        Ok(events) if events > 0 => Ok(Window(Some(events))),
        _ => Err(format!("`{text}` is no window: give a number of events, or `all`")),
    }
}

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    window: Option<FileWindow>,
    pair_time: Option<f64>,
    total_time: Option<f64>,
    pairs_per_signature: Option<usize>,
    solver: Option<String>,
    detectors: Option<Vec<String>>,
    goals: Option<Vec<String>>,
    suspects: Option<bool>,
    jobs: Option<u64>,
    confirm: Option<bool>,
    strict: Option<bool>,
    run_time: Option<f64>,
    test_time: Option<f64>,
    explore_time: Option<f64>,
    #[serde(default)]
    strip: Vec<String>,
    baseline: Option<PathBuf>,
    #[serde(default)]
    suppress: Vec<FileSuppression>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum FileWindow {
    Events(usize),
    Word(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FileSuppression {
    code: Option<String>,
    location: Option<String>,
    variable: Option<String>,
    reason: String,
}

/// All that is set.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) analysis: Settings,
    pub(super) confirm: bool,
    /// Whether doubtful findings are errors.
    pub(super) strict: bool,
    pub(super) run_time: Duration,
    /// How long suspects are tried; as long as the programs ran, if it is not set.
    pub(super) explore_time: Option<Duration>,
    pub(super) test_time: Option<Duration>,
    pub(super) baseline: Option<PathBuf>,
    /// Those of the file.
    pub(super) suppressions: Vec<Suppression>,
}

/// How long a run that confirms may take.
const RUN_TIME: Duration = Duration::from_secs(60);

impl Flags {
    /// What these flags and the file of a workspace ask for together.
    pub(super) fn resolve(&self, root: &Path, shard: Option<Shard>) -> Result<Resolved, Failure> {
        let path = root.join(FILE);
        let problem = |problem: String| Failure::of(path.display(), problem);
        let file = match fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text)
                .map_err(|error| problem(format!("not the settings of racelog\n{error}")))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => File::default(),
            Err(error) => return Err(problem(error.to_string())),
        };
        self.with(file, root, shard).map_err(problem)
    }

    fn with(&self, file: File, root: &Path, shard: Option<Shard>) -> Result<Resolved, String> {
        let usual = Options::default();
        let file_window = match file.window {
            Some(FileWindow::Events(events)) => Some(window(&events.to_string())?),
            Some(FileWindow::Word(word)) => Some(window(&word)?),
            None => None,
        };
        let time = |key: &str, flag: Option<Duration>, file: Option<f64>| match (flag, file) {
            (Some(time), _) => Ok(Some(time)),
            (None, Some(number)) => {
                seconds(&number.to_string()).map(Some).map_err(|error| format!("`{key}`: {error}"))
            }
            (None, None) => Ok(None),
        };
        let mut detectors = self.detectors.clone();
        if detectors.is_empty() {
            let names = file.detectors.unwrap_or_default();
            detectors = names.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
        }
        if detectors.is_empty() {
            detectors = vec![Detector::Mcm, Detector::Hb];
        }
        if self.suspects.or(file.suspects).unwrap_or(false) {
            detectors.push(Detector::LockOrder);
        }
        detectors.sort_unstable();
        detectors.dedup();
        let file_solver = match &file.solver {
            Some(name) => Some(name.parse::<SolverKind>().map_err(|error| error.to_string())?),
            None => None,
        };
        let file_goals = match file.goals {
            Some(names) => Some(names.join(",").parse::<GoalKinds>()?),
            None => None,
        };
        let options = Options {
            goals: self.goals.or(file_goals).unwrap_or(usual.goals),
            window: self.window.or(file_window).map_or(usual.window, |window| window.0),
            goal_time: time("pair-time", self.pair_time, file.pair_time)?.or(usual.goal_time),
            total_time: time("total-time", self.total_time, file.total_time)?,
            goals_per_signature: self
                .pairs_per_signature
                .or(file.pairs_per_signature)
                .or(usual.goals_per_signature),
            solver: self.solver.or(file_solver).unwrap_or(usual.solver),
            ..usual
        };
        if file.jobs == Some(0) {
            return Err("`jobs`: at least 1".to_owned());
        }
        let strip = if self.strip.is_empty() { file.strip } else { self.strip.clone() };
        let analysis = Settings {
            detectors,
            options,
            jobs: self.jobs.or(file.jobs).map(|jobs| jobs as usize),
            shard,
            strip: strip.into_iter().filter(|prefix| !prefix.is_empty()).collect(),
        };
        let suppressions = file.suppress.into_iter().zip(1..).map(suppression);
        Ok(Resolved {
            analysis,
            confirm: self.confirm.or(file.confirm).unwrap_or(true),
            strict: self.strict.or(file.strict).unwrap_or(false),
            run_time: time("run-time", self.run_time, file.run_time)?.unwrap_or(RUN_TIME),
            explore_time: match (self.explore_time, file.explore_time) {
                (None, Some(number)) => Some(
                    seconds_or_none(&number.to_string())
                        .map_err(|error| format!("`explore-time`: {error}"))?,
                ),
                (flag, _) => flag,
            },
            test_time: time("test-time", self.test_time, file.test_time)?,
            baseline: self.baseline.clone().or_else(|| file.baseline.map(|path| root.join(path))),
            suppressions: suppressions.collect::<Result<_, _>>()?,
        })
    }
}

fn suppression((entry, number): (FileSuppression, usize)) -> Result<Suppression, String> {
    let by = format!("[[suppress]] {number} of {FILE}");
    let kind = match &entry.code {
        Some(name) => {
            let kind = Kind::of_code(name);
            Some(kind.ok_or_else(|| format!("{by}: there is no code `{name}`"))?)
        }
        None => None,
    };
    if entry.code.is_none() && entry.location.is_none() && entry.variable.is_none() {
        return Err(format!("{by}: it fits everything: say a code, a location or a variable"));
    }
    if entry.reason.trim().is_empty() {
        return Err(format!("{by}: it says no reason"));
    }
    Ok(Suppression {
        kind,
        place: entry.location.as_deref().map(Place::of_trace),
        variable: entry.variable,
        reason: entry.reason,
        by,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(flags: &Flags, text: &str) -> Result<Resolved, String> {
        let file = toml::from_str(text).map_err(|error| error.to_string())?;
        flags.with(file, Path::new("/root"), None)
    }

    #[test]
    fn flags_come_before_the_file() {
        let text = "window = 500\npair-time = 2.5\ndetectors = [\"cp\", \"mcm\"]\nconfirm = false\n\
                    baseline = \"old.json\"\njobs = 3\n";
        let file = resolved(&Flags::default(), text).unwrap();
        assert_eq!(file.analysis.options.window, Some(500));
        assert_eq!(file.analysis.options.goal_time, Some(Duration::from_millis(2500)));
        assert_eq!(file.analysis.detectors, [Detector::Mcm, Detector::Cp]);
        assert_eq!(file.analysis.jobs, Some(3));
        assert!(!file.confirm);
        assert_eq!(file.analysis.options.goals, GoalKinds::ALL);
        assert_eq!(file.baseline, Some(PathBuf::from("/root/old.json")));
        let flags = Flags {
            window: Some(Window(None)),
            confirm: Some(true),
            detectors: vec![Detector::Hb],
            ..Flags::default()
        };
        let both = resolved(&flags, text).unwrap();
        assert_eq!(both.analysis.options.window, None);
        assert!(both.confirm);
        assert_eq!(both.analysis.detectors, [Detector::Hb]);
    }

    #[test]
    fn goals_are_narrowed_and_suspects_asked_for() {
        let text = "goals = [\"races\", \"sends\"]\nsuspects = true\n";
        let file = resolved(&Flags::default(), text).unwrap();
        assert_eq!(Ok(file.analysis.options.goals), "races,sends".parse());
        let detectors = [Detector::Mcm, Detector::Hb, Detector::LockOrder];
        assert_eq!(file.analysis.detectors, detectors);
        let flags =
            Flags { goals: Some(GoalKinds::RACES), suspects: Some(false), ..Flags::default() };
        let both = resolved(&flags, text).unwrap();
        assert_eq!(both.analysis.options.goals, GoalKinds::RACES);
        assert_eq!(both.analysis.detectors, [Detector::Mcm, Detector::Hb]);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, word) in [
            ("windw = 1", "windw"),
            ("window = 0", "`0` is no window"),
            ("window = \"some\"", "`some` is no window"),
            ("pair-time = -1.0", "pair-time"),
            ("detectors = [\"tsan\"]", "tsan"),
            ("solver = \"magic\"", "magic"),
            ("goals = [\"turns\"]", "`turns` is nothing to look for"),
            ("goals = []", "nothing to look for"),
            ("jobs = 0", "jobs"),
            ("[[suppress]]\nreason = \"x\"", "fits everything"),
            ("[[suppress]]\ncode = \"RL1\"\nreason = \"x\"", "RL1"),
            ("[[suppress]]\ncode = \"RL001\"\nreason = \" \"", "no reason"),
            ("[[suppress]]\ncode = \"RL001\"", "reason"),
        ] {
            let problem = resolved(&Flags::default(), text).unwrap_err();
            assert!(problem.contains(word), "{text}: {problem}");
        }
    }
}
