//! Records a program, predicts its races, replays them, and writes the page about it:
//! `report_page OUT.html PREDICTOR PROGRAM [ARGUMENT…]`, from the folder of the sources.
//!
//! This is how the picture in the README is made; see CONTRIBUTING.md.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use predictor::analysis::{Detector, analyze};
use predictor::predict::Options;
use predictor::project::{Analysed, Collector, Project, Replay, ReplayStatus, Sources};
use predictor::render::html::html;
use predictor::trace::Trace;
use predictor::trace::format::Source;

struct Here;

impl Sources for Here {
    fn read(&self, file: &str) -> Option<Arc<str>> {
        fs::read_to_string(file).ok().map(Arc::from)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [page, predictor, command @ ..] = &args[..] else {
        return Err("usage: report_page OUT.html PREDICTOR PROGRAM [ARGUMENT…]".into());
    };
    let [program, arguments @ ..] = command else { return Err("no program is given".into()) };
    let folder = tempfile::tempdir()?;
    let mut run = Command::new(program);
    run.args(arguments).env("RACELOG", "1").env("RACELOG_DIR", folder.path()).status()?;
    let mut collector = Collector::new(None);
    for entry in fs::read_dir(folder.path())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let trace = load(&folder.path().join(&name))?;
        let options = Options::default();
        let report = analyze(&trace, &name, &[Detector::Mcm, Detector::Hb], &options, |_, _| {});
        collector.add(Analysed::new(&trace, &report?, None, &[]));
    }
    let mut project = collector.finish(&Here);
    replay(&mut project, folder.path(), predictor, command)?;
    let mut out = BufWriter::new(File::create(page)?);
    html(&mut out, &project, &Here, &[], |name| load(&folder.path().join(name)).ok())?;
    Ok(out.flush()?)
}

fn load(path: &Path) -> Result<Trace, Box<dyn Error>> {
    Ok(Trace::load(&mut Source::of_bytes(fs::read(path)?, None)?, |_| {})?)
}

/// Runs the program under the witness of every race that has one.
fn replay(
    project: &mut Project,
    folder: &Path,
    predictor: &str,
    command: &[String],
) -> Result<(), Box<dyn Error>> {
    let occurrences = project.findings.iter_mut().flat_map(|finding| &mut finding.occurrences);
    for occurrence in occurrences.filter(|occurrence| occurrence.witness.is_some()) {
        let mut events = occurrence.accesses.clone().map(|access| access.event);
        events.sort_unstable();
        let output = Command::new(predictor)
            .arg("replay")
            .arg(folder.join(&occurrence.trace))
            .arg(format!("{},{}", events[0], events[1]))
            .arg("--")
            .args(command)
            .output()?;
        let lines: Vec<String> =
            String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect();
        let status = match lines.first().map(String::as_str) {
            Some("confirmed") => ReplayStatus::Confirmed,
            Some("confirmed, and does harm") => ReplayStatus::ConfirmedHarmful,
            Some(_) => ReplayStatus::Diverged,
            None => ReplayStatus::Failed,
        };
        occurrence.replay = Some(Replay { status, lines: lines.into_iter().skip(1).collect() });
    }
    Ok(())
}
