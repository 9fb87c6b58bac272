//! How fast traces are loaded and analysed:
//! `cargo bench -p racelog-tests --bench analysis -- [EVENTS]...`, a hundred thousand, a million
//! and ten million by default.
//!
//! The traces are those of `predictor generate`. Every pass is measured alone on one core, from a
//! trace that is loaded; the whole analysis, from the file to the report, with one and two jobs. Of
//! three runs the fastest counts; of a long trace there is one. The peer, measured in the same run,
//! is a walk over the loaded trace that counts what writes: how often a pass could have done that
//! is in the last column.

use std::error::Error;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::BufWriter;
use std::path::Path;
use std::time::Instant;

use predictor::analysis::{Detector, analyze};
use predictor::detect::{Scope, hb};
use predictor::generate::Plan;
use predictor::index::{Index, Regions};
use predictor::predict::{Candidates, MustOrder, Options, Writes};
use predictor::trace::Trace;
use predictor::trace::format::{Format, Sink, Source};
use predictor::witness::Checker;
use racelog::trace::{End, Metadata};

/// The pass that all others are compared with.
const WALK: &str = "walk";

/// Longer traces are measured once.
const LONG: usize = 2_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut sizes: Vec<usize> =
        std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![100_000, 1_000_000, 10_000_000];
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.rlog");
    println!(
        "{:>10}  {:28} {:>9} {:>18} {:>8}",
        "events", "pass", "seconds", "million events/s", "× walk"
    );
    for size in sizes {
        generate(&path, size)?;
        let rows = measure(&path, if size < LONG { 3 } else { 1 })?;
        let walk = rows.iter().find(|(pass, _)| *pass == WALK).map_or(f64::NAN, |(_, walk)| *walk);
        for (pass, seconds) in rows {
            let rate = size as f64 / 1e6 / seconds;
            println!("{size:10}  {pass:28} {seconds:9.3} {rate:18.2} {:8.1}", seconds / walk);
        }
    }
    println!("peak memory {:.0} MB", peak_memory()? as f64 / 1e6);
    Ok(())
}

fn generate(path: &Path, events: usize) -> Result<(), Box<dyn Error>> {
    let plan = Plan { events, ..Plan::default() };
    let out = BufWriter::new(File::create(path)?);
    let mut sink = Sink::new(out, Format::Binary, &Metadata::default(), true)?;
    let dictionary = plan.make(|dictionary, item| sink.write(dictionary, item))?;
    sink.finish(&dictionary, End::Clean)?;
    Ok(())
}

fn load(path: &Path) -> Result<Trace, Box<dyn Error>> {
    Ok(Trace::load(&mut Source::open(path, None)?, |_| {})?)
}

/// The passes, and how many seconds each takes.
fn measure(path: &Path, runs: usize) -> Result<Vec<(&'static str, f64)>, Box<dyn Error>> {
    let mut rows = Vec::new();
    rows.push(("load and validate", least(runs, || load(path).map(drop))?));
    {
        let trace = load(path)?;
        let index = Index::new(&trace);
        let mut pass = |name, work: &dyn Fn()| -> Result<(), Box<dyn Error>> {
            let work = || {
                work();
                Ok(())
            };
            rows.push((name, least(runs, work)?));
            Ok(())
        };
        pass(WALK, &|| {
            black_box(trace.ops().iter().filter(|op| op.writes()).count());
        })?;
        pass("hb", &|| drop(black_box(hb::races(&trace, Scope::Signatures))))?;
        pass("replay of the checker", &|| drop(black_box(Checker::new(&trace))))?;
        pass("index", &|| drop(black_box(Index::new(&trace))))?;
        pass("locks held", &|| drop(black_box(Regions::new(&trace))))?;
        pass("candidates, common locks", &|| {
            drop(black_box(Candidates::new(&trace, &index.regions, true)));
        })?;
        pass("order that all share", &|| drop(black_box(MustOrder::plain(&trace, &index))))?;
        pass("writes by thread", &|| drop(black_box(Writes::new(&trace))))?;
        let (writes, plain) = (Writes::new(&trace), MustOrder::plain(&trace, &index));
        pass("order that values force", &|| {
            drop(black_box(plain.by_values(&trace, &index, &writes)));
        })?;
    }
    for (name, jobs) in [("analysis, one job", 1), ("analysis, two jobs", 2)] {
        let options = Options { jobs: Some(jobs), ..Options::default() };
        let whole = || {
            let trace = load(path)?;
            let detectors = [Detector::Mcm, Detector::Hb];
            let report = analyze(&trace, "trace", &detectors, &options, |_, _| {});
            black_box(report.map_err(|_| "two solvers differ")?);
            Ok(())
        };
        rows.push((name, least(runs, whole)?));
    }
    Ok(rows)
}

/// The seconds of the fastest run.
fn least(
    runs: usize,
    mut work: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let mut least = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        work()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// The largest resident size of this process so far, in bytes.
fn peak_memory() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).ok_or("no VmHWM")?;
    let kilobytes: u64 = line.split_whitespace().nth(1).ok_or("no size")?.parse()?;
    Ok(kilobytes * 1024)
}
