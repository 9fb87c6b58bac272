//! Says of programs that were ended where their threads stood.

use super::super::say;
use super::run_folder::RunFolder;
use crate::project::TraceFile;
use crate::report::last_seen;
use crate::trace::Trace;
use crate::trace::format::Source;

/// Of how many traces it is said, and of how many threads of each.
const TRACES: usize = 10;
const THREADS: usize = 20;

/// Says who stood where in the traces that ended early, if their program was ended: all of them
/// were if the run was interrupted.
pub(super) fn say_where_threads_stood(
    files: &[TraceFile],
    run_folder: &RunFolder,
    interrupted: bool,
) {
    let ended = |file: &&TraceFile| {
        let program = file.name.rsplit_once('/').map(|(program, _)| program);
        interrupted || program.is_some_and(|program| run_folder.was_too_long(program))
    };
    let cut = files.iter().filter(ended).filter_map(|file| Some((file, cut_off(file)?)));
    let why = if interrupted { "was interrupted" } else { "was ended when its time was up" };
    for (at, (file, trace)) in cut.enumerate() {
        if at == TRACES {
            say("note", "there are more such traces");
            break;
        }
        let test = trace.metadata().test.as_ref();
        let what = test.map_or_else(|| format!("`{}`", file.name), |test| format!("test `{test}`"));
        let all = last_seen(&trace);
        let mut lines: Vec<String> = all.iter().take(THREADS).map(ToString::to_string).collect();
        if all.len() > THREADS {
            lines.push(format!("and {} more threads", all.len() - THREADS));
        }
        let stood = match lines.is_empty() {
            true => "nothing was recorded of it".to_owned(),
            false => format!("its threads stood here:\n  {}", lines.join("\n  ")),
        };
        say("note", format_args!("{what} {why}; {stood}"));
    }
}

/// A trace whose program did not end as it should.
fn cut_off(file: &TraceFile) -> Option<Trace> {
    if file.refused.is_some() {
        return None;
    }
    let trace = Trace::load(&mut Source::open(&file.path, None).ok()?, |_| {}).ok()?;
    (trace.end() != racelog::trace::End::Clean).then_some(trace)
}
