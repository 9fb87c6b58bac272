//! How soon the bugs of `tests/one-bug` are found: by `cargo racelog test` without a flag, and beside
//! it by 1,000 schedules of the same body, random and by priorities (PCT, depth 3), of racelog's and
//! of shuttle's. Prints a table.
//!
//! The argument is where the built `cargo-racelog` is; names of programs may follow. Each program
//! has five runs of everything, by other seeds, and the median is shown; `cargo racelog test` always
//! has the same seeds, and runs once. Each run is a process of its own, for who uses memory after it
//! was freed may crash. The right versions are run as well, by the same schedules; what is found in
//! them is said below the table.

use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

#[macro_use]
#[path = "../../../one-bug/src/each_program.rs"]
mod each_program;

/// The programs with the types of a crate.
macro_rules! programs {
    ($name:ident, $sync:path, $thread:path, |$place:ident| $look:expr) => {
        #[path = "../../../one-bug/src"]
        mod $name {
            use $sync as sync;
            use $thread as thread;

            /// The scheduler decides who is late.
            fn be_late() {}

            /// Nor does time pass.
            fn nap() {}

            /// Reads what a pointer points to.
            unsafe fn look<T: Copy>($place: *const T) -> T {
                // SAFETY: that is for the caller to see to.
                unsafe { $look }
            }

            #[path = "programs/mod.rs"]
            pub(crate) mod programs;
        }
    };
}

programs!(with_racelog, racelog::sync, racelog::thread, |place| racelog::read!(*place));
programs!(with_shuttle, shuttle::sync, shuttle::thread, |place| place.read());

/// A program, with racelog's types and with shuttle's.
type Program = (&'static str, fn(bool), fn(bool));

macro_rules! table {
    ($($program:ident)*) => {
        &[$((
            stringify!($program),
            with_racelog::programs::$program,
            with_shuttle::programs::$program,
        )),*]
    };
}

const PROGRAMS: &[Program] = each_program!(table,);

const SCHEDULES: usize = 1_000;
const DEPTH: usize = 3;
const SEEDS: u64 = 5;

/// How long a process may take.
const TIME: Duration = Duration::from_secs(60);

/// Who runs the schedules.
const TOOLS: [&str; 4] = ["racelog random", "racelog pct", "shuttle random", "shuttle pct"];

/// What came of a program.
#[derive(Clone, PartialEq, Debug)]
enum Found {
    /// In this schedule, after so many seconds.
    In(usize, f64),
    /// The process was killed: what it said of itself is gone.
    Crashed(f64),
    /// Without a schedule: it is predicted.
    Predicted,
    /// The recorded run itself went wrong.
    Recorded,
    Not,
}

impl Found {
    fn shown(&self) -> String {
        match self {
            Self::In(schedules, seconds) => format!("{schedules} in {seconds:.3} s"),
            Self::Crashed(seconds) => format!("crash in {seconds:.3} s"),
            Self::Predicted => "predicted".to_owned(),
            Self::Recorded => "failed as it was recorded".to_owned(),
            Self::Not => "-".to_owned(),
        }
    }

    /// What is found sooner comes first.
    fn rank(&self) -> (usize, f64) {
        match self {
            Self::Predicted | Self::Recorded => (0, 0.0),
            Self::In(schedules, seconds) => (*schedules, *seconds),
            Self::Crashed(seconds) => (SCHEDULES, *seconds),
            Self::Not => (usize::MAX, f64::MAX),
        }
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "--child") {
        child(&words[1..]);
        return ExitCode::SUCCESS;
    }
    let Some(command) = words.first().map(PathBuf::from).filter(|path| path.is_file()) else {
        eprintln!("say where the built `cargo-racelog` is, such as target/release/cargo-racelog");
        return ExitCode::from(2);
    };
    match table(&command, &words[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}

fn table(command: &Path, names: &[String]) -> Result<(), String> {
    let is_wanted = |(name, ..): &&Program| names.is_empty() || names.iter().any(|it| it == name);
    let stage = Stage::new(command)?;
    let tools = TOOLS.join(" | ");
    println!("| program | `cargo racelog test` | the same with sleeps | {tools} |");
    println!("| --- | --- | --- |{}", " --- |".repeat(TOOLS.len()));
    let mut sums = [0; 2 + TOOLS.len()];
    let mut alarms = Vec::new();
    for (name, ..) in PROGRAMS.iter().filter(is_wanted) {
        let mut row = vec![stage.find("plain::wrong", name)?, stage.find("sleepy::wrong", name)?];
        for variant in ["plain::right", "sleepy::right"] {
            if stage.find(variant, name)? != Found::Not {
                alarms.push(format!("{variant}::{name} by cargo racelog test"));
            }
        }
        for tool in TOOLS {
            let runs = (0..SEEDS).map(|seed| run(tool, name, false, seed));
            let mut runs = runs.collect::<Result<Vec<Found>, _>>()?;
            runs.sort_by(|one, two| one.rank().partial_cmp(&two.rank()).expect("no NaN"));
            row.push(runs.swap_remove(runs.len() / 2));
            if run(tool, name, true, 0)? != Found::Not {
                alarms.push(format!("{name}, right, by {tool}"));
            }
        }
        for (sum, found) in sums.iter_mut().zip(&row) {
            *sum += usize::from(!matches!(found, Found::Not));
        }
        let row: Vec<String> = row.iter().map(Found::shown).collect();
        println!("| `{name}` | {} |", row.join(" | "));
    }
    println!("| found | {} |", sums.map(|sum| sum.to_string()).join(" | "));
    println!();
    match alarms.as_slice() {
        [] => println!("Nothing was found in the right versions."),
        alarms => println!("Found in right versions: {}.", alarms.join("; ")),
    }
    Ok(())
}

/// Runs the schedules of a tool in a process of its own.
fn run(tool: &str, name: &str, right: bool, seed: u64) -> Result<Found, String> {
    let this = env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(this);
    command.args(["--child", tool, name, &right.to_string(), &seed.to_string()]);
    let begun = Instant::now();
    let (code, said) = output(command.stderr(Stdio::null()), &format!("{name} by {tool}"))?;
    let mut words = said.split_whitespace();
    Ok(match (code, words.next(), words.next()) {
        (None, ..) => Found::Crashed(begun.elapsed().as_secs_f64()),
        (Some(0), Some("found"), Some(schedules)) => {
            let seconds = words.next().and_then(|word| word.parse().ok());
            let schedules = schedules.parse().ok();
            let (schedules, seconds) = schedules.zip(seconds).ok_or("figures are missing")?;
            Found::In(schedules, seconds)
        }
        (Some(0), Some("nothing"), _) => Found::Not,
        (code, ..) => return Err(format!("{name} by {tool}: ended with {code:?}: {said}")),
    })
}

/// The exit code of a process, if no signal has killed it, and what it said.
fn output(command: &mut Command, what: &str) -> Result<(Option<i32>, String), String> {
    let problem = |error: std::io::Error| format!("{what}: {error}");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(problem)?;
    let begun = Instant::now();
    while child.try_wait().map_err(problem)?.is_none() {
        if begun.elapsed() > TIME {
            child.kill().map_err(problem)?;
            child.wait().map_err(problem)?;
            return Err(format!("{what}: it has not ended within {} seconds", TIME.as_secs()));
        }
        thread::sleep(Duration::from_millis(1));
    }
    let output = child.wait_with_output().map_err(problem)?;
    Ok((output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// Runs schedules until one fails, and says which.
fn child(words: &[String]) {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let [tool, name, right, seed] = words else { panic!("for this program to call") };
    let program = PROGRAMS.iter().find(|(other, ..)| other == name).expect("there is one");
    let (_, ours, theirs) = *program;
    let (right, seed): (bool, u64) = (right == "true", seed.parse().expect("a number"));
    let counted = move |body: fn(bool)| {
        move || {
            RUNS.fetch_add(1, Ordering::Relaxed);
            body(right);
        }
    };
    panic::set_hook(Box::new(|_| {}));
    let begun = Instant::now();
    let explorer = || racelog::sched::Explorer::new().schedules(SCHEDULES).seed(seed).fibers();
    let runner = || shuttle::Config::default();
    let failed = match tool.as_str() {
        "racelog random" => explorer().random().check(counted(ours)).is_err(),
        "racelog pct" => explorer().pct(DEPTH as u32).check(counted(ours)).is_err(),
        "shuttle random" => {
            let scheduler = shuttle::scheduler::RandomScheduler::new_from_seed(seed, SCHEDULES);
            let run = || shuttle::Runner::new(scheduler, runner()).run(counted(theirs));
            panic::catch_unwind(AssertUnwindSafe(run)).is_err()
        }
        _ => {
            let scheduler = shuttle::scheduler::PctScheduler::new_from_seed(seed, DEPTH, SCHEDULES);
            let run = || shuttle::Runner::new(scheduler, runner()).run(counted(theirs));
            panic::catch_unwind(AssertUnwindSafe(run)).is_err()
        }
    };
    let seconds = begun.elapsed().as_secs_f64();
    match failed {
        true => println!("found {} {seconds}", RUNS.load(Ordering::Relaxed)),
        false => println!("nothing {seconds}"),
    }
}

/// `cargo racelog test` in a copy of the package.
struct Stage {
    command: PathBuf,
    folder: PathBuf,
}

impl Stage {
    fn new(command: &Path) -> Result<Self, String> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let command = command.canonicalize().map_err(|error| error.to_string())?;
        let folder = here.join("target/one-bug");
        let shown = folder.display().to_string();
        let problem = |error: std::io::Error| format!("{shown}: {error}");
        let racelog = here.join("../../racelog").canonicalize().map_err(problem)?;
        copy(&here.join("../one-bug"), &folder.join("crate"), &racelog).map_err(problem)?;
        let stage = Self { command, folder };
        // To build it may take long, and is not what is measured.
        let built = stage.cargo(&["test", "--no-run"]).status().map_err(problem)?;
        if built.success() { Ok(stage) } else { Err("`tests/one-bug` was not built".to_owned()) }
    }

    /// A `cargo racelog` in the copy.
    fn cargo(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.command);
        command.arg("racelog").args(words).current_dir(self.folder.join("crate"));
        command.env("CARGO_TARGET_DIR", self.folder.join("target"));
        command.env("XDG_STATE_HOME", self.folder.join("state"));
        command
    }

    /// What comes of one test.
    fn find(&self, variant: &str, name: &str) -> Result<Found, String> {
        let test = format!("{variant}::{name}");
        let mut command = self.cargo(&["test", "--quiet", &test]);
        let (code, said) = output(command.stderr(Stdio::null()), &test)?;
        match code {
            Some(0) => return Ok(Found::Not),
            Some(101) => return Ok(Found::Recorded),
            Some(1) => {}
            code => return Err(format!("{test}: ended with {code:?}: {said}")),
        }
        let report = self.folder.join("target/racelog/report.json");
        let text = fs::read_to_string(&report).map_err(|error| error.to_string())?;
        let report: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let findings = report["findings"].as_array().ok_or("the report has no findings")?;
        let occurrences = findings.iter().filter_map(|finding| finding["occurrences"].as_array());
        let is_directed = occurrences.flatten().all(|it| it["directed"].is_object());
        let first = &report["explored"]["first"];
        let figures = first["runs"].as_u64().zip(first["seconds"].as_f64());
        Ok(match figures.filter(|_| is_directed) {
            Some((runs, seconds)) => Found::In(runs as usize, seconds),
            None => Found::Predicted,
        })
    }
}

fn copy(from: &Path, to: &Path, racelog: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (path, target) = {
            let entry = entry?;
            (entry.path(), to.join(entry.file_name()))
        };
        if path.is_dir() {
            copy(&path, &target, racelog)?;
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let text = text.replace("\"RACELOG\"", &format!("{:?}", racelog.to_string_lossy()));
        // What is as it was need not be built again.
        if fs::read_to_string(&target).ok().as_ref() != Some(&text) {
            fs::write(target, text)?;
        }
    }
    Ok(())
}
