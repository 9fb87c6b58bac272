//! Runs `cut_off`, a program without races, so many times for each way to run out of room and each
//! way to end, and looks at what it leaves: `cut_off_runs RUNS [SEED [FIRST LAST]]`. There are nine
//! such ways, from 1; `FIRST` to `LAST` of them are tried.
//!
//! Every trace has to be valid and without race, and has to say how many events are lost where some
//! are. Deadlocks and other endless waits are looked for as well. What does not hold is said, and its
//! trace is kept.

use std::error::Error;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use predictor::analysis::{Detector, analyze};
use predictor::goal::{GoalKind, GoalKinds};
use predictor::predict::Options;
use predictor::trace::Trace;
use predictor::trace::format::{Format, Source};
use racelog::trace::End;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What there is not enough of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    /// The trace has a greatest size.
    Limit,
    /// The file system has.
    Disk,
    Plenty,
}

/// How the program ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Abort,
    Exit,
    Kill,
}

/// How a full disk is come by.
enum Disk {
    /// A file system of its own, of so many bytes.
    Tmpfs(TempDir),
    /// There may be no such file system here: files must not grow beyond a size.
    FileSize,
}

/// Of this many bytes is the small file system.
const DISK: u64 = 2 << 20;

/// How long `mcm` may look for races in a trace: with more, nine thousand runs take hours.
const RACES_TIME: Duration = Duration::from_secs(1);
/// How long it may look for anything else, of which there is none either.
const WAITS_TIME: Duration = Duration::from_millis(100);

/// What was seen.
#[derive(Default)]
struct Tally {
    /// Runs of which no event was recorded.
    empty: u64,
    /// Runs that ran out of room.
    full: u64,
    /// Runs that have lost events.
    losing: u64,
    events: u64,
    lost: u64,
    invalid: u64,
    findings: u64,
    /// Runs with pairs that could not be decided in the time that there is.
    undecided_races: u64,
    /// The same for whatever else there is to look for.
    undecided_waits: u64,
    /// Runs that ran out of room and do not count what they lost.
    uncounted: u64,
}

impl Tally {
    fn is_good(&self) -> bool {
        self.invalid + self.findings + self.uncounted == 0
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Option<Vec<u64>> = args.iter().map(|word| word.parse().ok()).collect();
    let (runs, seed, ways) = match numbers.as_deref() {
        Some([runs]) => (*runs, 0, 1..=9),
        Some([runs, seed]) => (*runs, *seed, 1..=9),
        Some([runs, seed, first, last]) => (*runs, *seed, *first..=*last),
        _ => {
            eprintln!("usage: cut_off_runs RUNS [SEED [FIRST LAST]]");
            return ExitCode::from(2);
        }
    };
    match all(runs, seed, &ways) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn all(runs: u64, seed: u64, ways: &RangeInclusive<u64>) -> Result<bool> {
    let disk = Disk::find()?;
    let program = std::env::current_exe()?.with_file_name("cut_off");
    let mut good = true;
    println!("full disk: {}", disk.name());
    println!(
        "| room | ends by | runs | empty | full | lose events | events | lost | invalid | findings | \
         races undecided | waits undecided |"
    );
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for room in [Room::Limit, Room::Disk, Room::Plenty] {
        for ending in [Ending::Abort, Ending::Exit, Ending::Kill] {
            if !ways.contains(&(room as u64 * 3 + ending as u64 + 1)) {
                continue;
            }
            let mut tally = Tally::default();
            for run in 0..runs {
                let seed = seed.wrapping_mul(1_000_003) ^ run << 4 ^ (room as u64) << 2;
                one(&program, &disk, room, ending, seed ^ ending as u64, &mut tally)?;
            }
            println!("{}", row(room, ending, runs, &tally));
            good &= tally.is_good();
        }
    }
    Ok(good)
}

fn row(room: Room, ending: Ending, runs: u64, tally: &Tally) -> String {
    let room = match room {
        Room::Limit => "limit",
        Room::Disk => "full disk",
        Room::Plenty => "neither",
    };
    let ending = match ending {
        Ending::Abort => "abort",
        Ending::Exit => "exit",
        Ending::Kill => "SIGKILL",
    };
    let Tally { empty, full, losing, events, lost, invalid, findings, .. } = tally;
    let Tally { undecided_races, undecided_waits, .. } = tally;
    format!(
        "| {room} | {ending} | {runs} | {empty} | {full} | {losing} | {events} | {lost} | \
         {invalid} | {findings} | {undecided_races} | {undecided_waits} |"
    )
}

/// One run, and a look at what it leaves.
fn one(
    program: &Path,
    disk: &Disk,
    room: Room,
    ending: Ending,
    seed: u64,
    tally: &mut Tally,
) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let elsewhere = TempDir::new()?;
    let folder = match (room, disk) {
        (Room::Disk, Disk::Tmpfs(mounted)) => mounted.path(),
        _ => elsewhere.path(),
    };
    // So that it is not always the same instant at which the disk is full.
    let ballast = folder.join("ballast");
    let mut command = match (room, disk) {
        (Room::Disk, Disk::FileSize) => {
            let blocks = random.random_range(100..1000u32).to_string();
            let mut limited = Command::new("sh");
            limited.args(["-c", "ulimit -f $1; shift; exec \"$@\"", "sh", &blocks]).arg(program);
            limited
        }
        _ => Command::new(program),
    };
    match room {
        Room::Disk => {
            let least = if random.random_bool(0.05) { 0 } else { DISK - 600_000 };
            let len = random.random_range(least..DISK - 200_000);
            fs::write(&ballast, vec![1; usize::try_from(len)?])?;
        }
        Room::Limit => {
            let least = if random.random_bool(0.05) { 50 } else { 256 };
            let most = if random.random_bool(0.05) { 2000 } else { 300 };
            let limit: u32 = random.random_range(least..most);
            command.env("RACELOG_MAX_BYTES", format!("{limit}k"));
        }
        Room::Plenty => {}
    }
    let how = match ending {
        Ending::Abort => "abort",
        Ending::Exit => "exit",
        Ending::Kill => "wait",
    };
    let most = if room == Room::Plenty { 60 } else { 1500 };
    let rounds = random.random_range(0..most).to_string();
    command.args([how, &seed.to_string(), &rounds]);
    command.env("RACELOG", "1").env("RACELOG_DIR", folder.join("traces"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    if ending == Ending::Kill {
        let most = if room == Room::Plenty { 15_000 } else { 40_000 };
        thread::sleep(Duration::from_micros(random.random_range(0..most)));
        child.kill()?;
    }
    child.wait()?;
    look(&folder.join("traces"), seed, tally)?;
    let _ = fs::remove_file(ballast);
    let _ = fs::remove_dir_all(folder.join("traces"));
    Ok(())
}

/// Looks at the one trace in the folder, if there is one.
fn look(folder: &Path, seed: u64, tally: &mut Tally) -> Result<()> {
    let mut paths = match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?,
        // It was killed before it could make the folder.
        Err(_) => Vec::new(),
    };
    let Some(path) = paths.pop() else {
        tally.empty += 1;
        return Ok(());
    };
    let trouble = |what: &str| -> Result<()> {
        let kept = std::env::temp_dir().join(format!("racelog-cut-off-{seed}.rlog"));
        fs::copy(&path, &kept)?;
        println!("{what}; the trace is in {}", kept.display());
        Ok(())
    };
    let mut source = Source::open(&path, Some(Format::Binary))?;
    let trace = match Trace::load(&mut source, |_| {}) {
        Ok(trace) => trace,
        Err(error) => {
            tally.invalid += 1;
            return trouble(&error.to_string());
        }
    };
    tally.empty += u64::from(trace.is_empty());
    tally.full += u64::from(trace.end() == End::Full);
    tally.losing += u64::from(trace.lost_events() > 0);
    tally.events += trace.len() as u64;
    tally.lost += trace.lost_events();
    if trace.end() == End::Full && trace.lost_events() == 0 {
        tally.uncounted += 1;
        trouble("events were lost and not counted")?;
    }
    let mut search = |goals: GoalKinds, time: Duration| -> Result<bool> {
        let options = Options {
            goals,
            jobs: Some(1),
            goal_time: Some(time),
            total_time: Some(time),
            ..Options::default()
        };
        let report = analyze(&trace, "trace", &[Detector::Mcm, Detector::Hb], &options, |_, _| {})
            .map_err(|difference| Box::<dyn Error>::from(difference.to_string()))?;
        if !report.findings.is_empty() {
            tally.findings += 1;
            trouble(&format!("{} findings", report.findings.len()))?;
        }
        Ok(report.detectors.iter().all(|run| run.unknown == 0))
    };
    let races_decided = search(GoalKinds::RACES, RACES_TIME)?;
    let waits_decided = search(GoalKinds::ALL.without(GoalKind::Race), WAITS_TIME)?;
    tally.undecided_races += u64::from(!races_decided);
    tally.undecided_waits += u64::from(!waits_decided);
    Ok(())
}

impl Disk {
    fn find() -> Result<Self> {
        let folder = TempDir::new()?;
        let size = format!("size={DISK}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        Ok(match mounted {
            Ok(status) if status.success() => Self::Tmpfs(folder),
            _ => Self::FileSize,
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Tmpfs(_) => "a tmpfs of 2 MiB",
            Self::FileSize => "a greatest size of files: no file system could be mounted here",
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Self::Tmpfs(folder) = self {
            // Nothing is left to be done about it here.
            let _ = Command::new("umount").arg(folder.path()).status();
        }
    }
}
