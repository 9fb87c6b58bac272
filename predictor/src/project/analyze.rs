//! Analyses all traces of a folder.

use std::path::PathBuf;

use rayon::prelude::*;

use super::collect::fnv;
use super::{Analysed, Collector, Project, Shard, Sources};
use crate::analysis::{Detector, analyze as analyze_one};
use crate::predict::{Options, Part};
use crate::trace::Trace;
use crate::trace::format::Source;

/// A file that should be a trace.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TraceFile {
    /// What the report calls it.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Why it must not be opened, if it must not.
    pub refused: Option<String>,
}

/// How to go about it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The detectors that are to run.
    pub detectors: Vec<Detector>,
    /// How to predict. Its `part` and `jobs` are not used.
    pub options: Options,
    /// How many threads to use; as many as there are processors if none.
    pub jobs: Option<usize>,
    /// Which part of the work to do.
    pub shard: Option<Shard>,
    /// Prefixes that are taken off the names of source files.
    pub strip: Vec<String>,
}

/// What is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// The trace with this number is done.
    Trace(usize),
    /// Of the trace with this number, so many signatures are done, of so many.
    Signatures(usize, usize, usize),
}

/// Analyses traces, several at a time. What cannot be analysed is said in the report; the rest is
/// analysed all the same. The result depends neither on the order of the files nor on the number of
/// threads.
pub fn analyze(
    files: &[TraceFile],
    settings: &Settings,
    sources: &impl Sources,
    progress: impl Fn(Progress) + Sync + Send,
) -> Project {
    let all = || {
        let results = files.par_iter().enumerate().map(|(number, file)| {
            let signatures = |done, all| progress(Progress::Signatures(number, done, all));
            let result = analyze_file(file, settings, signatures);
            progress(Progress::Trace(number));
            result
        });
        results.collect::<Vec<_>>()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.jobs.unwrap_or(0)).build();
    let results = match pool {
        Ok(pool) => pool.install(all),
        // No thread to be had is no reason to find nothing.
        Err(_) => all(),
    };
    let mut collector = Collector::new(settings.shard);
    for (file, result) in files.iter().zip(results) {
        match result {
            Ok(analysed) => collector.add(analysed),
            Err(problem) => collector.skip(file.name.clone(), problem),
        }
    }
    collector.finish(sources)
}

fn analyze_file(
    file: &TraceFile,
    settings: &Settings,
    progress: impl Fn(usize, usize) + Sync + Send,
) -> Result<Analysed, String> {
    let problem = |error: &dyn std::fmt::Display| error.to_string();
    if let Some(refused) = &file.refused {
        return Err(refused.clone());
    }
    let mut source = Source::open(&file.path, None).map_err(|error| problem(&error))?;
    let trace = Trace::load(&mut source, |_| {}).map_err(|error| problem(&error))?;
    let part = settings.shard.map_or(Part::WHOLE, |shard| part(&file.name, shard));
    let options = Options { part, jobs: None, all_goals: false, ..settings.options.clone() };
    let report = analyze_one(&trace, &file.name, &settings.detectors, &options, progress);
    let report = report.map_err(|difference| problem(&difference))?;
    Ok(Analysed::new(&trace, &report, source.note(), &settings.strip))
}

/// Which part of a trace's work a shard does. Every trace starts with another shard, so that many
/// small traces are spread as well.
fn part(name: &str, shard: Shard) -> Part {
    let of = u64::from(shard.of.max(1));
    let first = (u64::from(shard.index) + of - 1 + fnv(name.as_bytes()) % of) % of;
    Part::new(first as usize, of as usize).unwrap_or(Part::WHOLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_belongs_to_one_shard() {
        for name in ["a.rlog", "b.rlog"] {
            let parts: std::collections::HashSet<String> =
                (1..=7).map(|index| format!("{:?}", part(name, Shard { index, of: 7 }))).collect();
            assert_eq!(parts.len(), 7);
        }
    }
}
