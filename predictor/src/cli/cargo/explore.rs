//! Tries what is suspected and was not proven: runs the programs under control, directed to it.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use racelog::contract::place::{PlaceList, PlacePair};
use racelog::contract::seed::{Manoeuvre, Seed};
use racelog::interrupt;
use racelog::trace::VarId;
use rayon::prelude::*;

use super::super::{Failure, Outcome, say, terminal};
use super::settings::Resolved;
use super::traces::locate;
use super::trust::{Again, Trust};
use crate::child::controlled::{Control, ControlledProgram};
use crate::directed::{Campaign, Origin, Ran, Shown, Task, happens_again};
use crate::finding::{Finding, Kind, Occurrence, Place, Replay};
use crate::project::{Explored, FirstHit, Project};
use crate::render::replay_lines;
use crate::replay::{ReportNames, thread_names};
use crate::suspects::{Suspect, Suspects, Target, Why};
use crate::trace::Trace;
use crate::trace::format::Source;

/// How long one run may take: a program that hangs must not use up all the time that there is.
pub(super) const RUN_TIME: Duration = Duration::from_secs(10);

/// How often a run is made again before it is reported.
pub(super) const AGAIN: usize = 2;

/// The programs that left the traces.
pub(super) struct Programs<'a> {
    pub(super) traces: &'a Path,
    pub(super) trust: &'a Trust,
}

/// How long all runs may take.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    time: Duration,
    /// The first runs of all suspects may take longer.
    at_most: Duration,
}

/// How long suspects are tried at least, if nothing else is asked for.
const EXPLORE_TIME: Duration = Duration::from_secs(5);

/// How many times as long the first runs of all suspects may take: on a machine that is busy with
/// other things each run takes longer, and the same is to be found.
const PATIENCE: u32 = 8;

impl Budget {
    /// As much as was asked for, or else as long as the programs ran when they were recorded.
    pub(super) fn new(asked: Option<Duration>, recording: Duration) -> Self {
        let time = asked.unwrap_or(recording.max(EXPLORE_TIME));
        Self { time, at_most: if asked.is_some() { time } else { time * PATIENCE } }
    }
}

/// A program that can be run again, and what to call its threads.
struct Runnable {
    again: Again,
    names: ReportNames,
}

/// Tries the suspects of all traces, for no longer than `budget`. Says what happened and what was
/// done; nothing if there was nothing to try.
pub(super) fn explore(
    project: &Project,
    programs: &Programs<'_>,
    settings: &Resolved,
    budget: Budget,
    progress: impl Fn(usize, usize) + Sync + Send,
) -> Option<(Vec<Finding>, Explored)> {
    if budget.time.is_zero() || interrupt::noted().is_some() {
        return None;
    }
    let work = || tried(project, programs, settings, budget, progress);
    let jobs = settings.analysis.jobs.unwrap_or(0);
    match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

fn tried(
    project: &Project,
    programs: &Programs<'_>,
    settings: &Resolved,
    budget: Budget,
    progress: impl Fn(usize, usize) + Sync + Send,
) -> Option<(Vec<Finding>, Explored)> {
    let known = project.traces.par_iter().filter_map(|trace| {
        let name = &trace.name;
        suspects(project, name, programs, settings)
    });
    let (origins, runnable): (Vec<Origin>, Vec<Runnable>) = known.collect();
    if origins.is_empty() {
        return None;
    }
    let started = Instant::now();
    let mut campaign = Campaign::new(origins);
    let done = AtomicUsize::new(0);
    let is_over = |time: Duration| started.elapsed() >= time || interrupt::noted().is_some();
    let is_left = |task: &Task| !is_over(if task.is_first { budget.at_most } else { budget.time });
    let mut first = None;
    loop {
        let tasks: Vec<Task> = campaign.round().into_iter().filter(&is_left).collect();
        if tasks.is_empty() {
            break;
        }
        let size = campaign.size();
        let run = |task: Task| {
            let left = budget.at_most.saturating_sub(started.elapsed());
            let ran = is_left(&task).then(|| run(&task, &runnable[task.origin], settings, left));
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, size);
            (task, ran)
        };
        let ran: Vec<_> = tasks.into_par_iter().map(run).collect();
        for (task, ran) in ran {
            match ran {
                Some(Some(ran)) => {
                    campaign.note(&task, &ran);
                    if first.is_none() && campaign.has_shown() {
                        let seconds = started.elapsed().as_secs_f64();
                        first = Some(FirstHit { runs: campaign.done().runs, seconds });
                    }
                }
                // That it was interrupted says nothing of the program.
                Some(None) if interrupt::noted().is_none() => campaign.give_up(&task),
                Some(None) | None => {}
            }
        }
    }
    let shown = campaign.shown();
    let findings = shown.par_iter().filter_map(|shown| {
        let runnable = &runnable[shown.task.origin];
        let repeats = (0..AGAIN).all(|_| {
            let ran = run_again(&shown.task, runnable, settings);
            ran.is_some_and(|ran| shown.is_again(&ran))
        });
        if !repeats {
            return None;
        }
        finding(shown, &campaign, programs, settings)
    });
    let findings: Vec<Finding> = findings.collect();
    let seconds = started.elapsed().as_secs_f64();
    Some((findings, Explored::new(campaign.done(), first, seconds)))
}

/// A run that is made again.
struct Rerun {
    seed: Seed,
    race: Option<PlacePair>,
    places: Option<PlaceList>,
}

/// Runs a program again by the seed of a finding, and says whether that happens again.
pub(super) fn replay(
    finding: &Finding,
    programs: &Programs<'_>,
    settings: &Resolved,
    announce: impl Fn(&Again),
) -> Result<Outcome, Failure> {
    let problem =
        |problem: String| Failure::of(format_args!("finding {}", finding.number), problem);
    let occurrence = finding.best();
    let (trace, Rerun { seed, race, places }) = rerun(occurrence, programs).map_err(problem)?;
    let again = programs.trust.again(programs.traces, &occurrence.trace, &trace);
    let again = again.map_err(|cause| problem(replay_lines(&Replay::failed(cause)).join("\n")))?;
    announce(&again);
    let strip = &settings.analysis.strip;
    let program = ControlledProgram::new(&again.words, settings.run_time);
    let program = program.within(&again.surroundings).unrecorded();
    let control = Control::Seed { seed: &seed, race: race.as_ref(), places: places.as_ref() };
    let ended = program.run(control, &thread_names(&trace, strip));
    if let Some(signal) = interrupt::noted() {
        say("error", "interrupted");
        return Ok(Outcome::Interrupted(signal));
    }
    interrupt::as_usual();
    let ended = ended.map_err(|error| problem(error.to_string()))?;
    let ran = Ran { code: ended.end.code(), outcome: ended.outcome };
    let places: Vec<&Place> = finding.places().collect();
    let happened = happens_again(&finding.kind, &places, &ran);
    let mut out = terminal::stdout(terminal::Kind::Text);
    match happened {
        true => writeln!(out, "confirmed")?,
        false => writeln!(out, "the seed did not bring it about again")?,
    }
    writeln!(out, "  by the seed `{seed}`, then {}", ran.outcome.then)?;
    for line in String::from_utf8_lossy(&ended.printed).lines() {
        writeln!(out, "    {line}")?;
    }
    out.flush()?;
    Ok(if happened { Outcome::NothingFound } else { Outcome::Found })
}

/// The trace of a finding, and the run that shows it.
fn rerun(occurrence: &Occurrence, programs: &Programs<'_>) -> Result<(Trace, Rerun), String> {
    let invalid = |error: &dyn std::fmt::Display| format!("its run cannot be made again: {error}");
    let directed = occurrence.directed.as_ref().ok_or("no run is known that shows it")?;
    let seed = directed.control.parse().map_err(|error| invalid(&error))?;
    let race = directed.race.as_deref().map(str::parse).transpose();
    let race = race.map_err(|error| invalid(&error))?;
    let places = directed.places.as_deref().map(str::parse).transpose();
    let places = places.map_err(|error| invalid(&error))?;
    let trace = load(programs.traces, &occurrence.trace).ok_or("its trace cannot be read")?;
    Ok((trace, Rerun { seed, race, places }))
}

/// What there is to try of a trace, and how its program is run.
fn suspects(
    project: &Project,
    name: &str,
    programs: &Programs<'_>,
    settings: &Resolved,
) -> Option<(Origin, Runnable)> {
    let trace = load(programs.traces, name)?;
    // What was reported already is not tried again.
    let races = [Kind::DataRace, Kind::UnorderedRace, Kind::SuspectedRace];
    let findings = project.findings.iter().filter(|finding| races.contains(&finding.kind));
    let here = findings.flat_map(|finding| &finding.occurrences).filter(|it| it.trace == name);
    let events = here.filter_map(|occurrence| occurrence.events_in(&trace)).flatten();
    let known: HashSet<VarId> = events.filter_map(|event| trace.accessed(event)).collect();
    let waits = [Kind::Deadlock, Kind::Stall, Kind::LostWakeup, Kind::Hang];
    let findings = project.findings.iter().filter(|finding| waits.contains(&finding.kind));
    let here = findings.flat_map(|finding| &finding.occurrences).filter(|it| it.trace == name);
    let parts = here.flat_map(Occurrence::primary_parts);
    let stands: HashSet<&Place> = parts.filter_map(|part| part.source.place.as_ref()).collect();
    let strip = &settings.analysis.strip;
    let is_known = |suspect: &Suspect| match &suspect.target {
        Target::Race(_) | Target::Held(Manoeuvre::Between, _) => {
            let mut variables = suspect.events.iter().filter_map(|it| trace.accessed(*it));
            variables.any(|var| known.contains(&var))
        }
        Target::Held(Manoeuvre::Late, _) if suspect.why == Why::FreedMeanwhile => suspect
            .events
            .iter()
            .any(|it| trace.accessed(*it).is_some_and(|var| known.contains(&var))),
        Target::Held(Manoeuvre::Late, _) => false,
        Target::Held(Manoeuvre::Circle | Manoeuvre::Wait, _) => {
            let places = suspect.events.iter().filter_map(|it| trace.source_place(*it));
            let mut places = places.map(|place| Place::from(place).stripped(strip));
            places.any(|place| stands.contains(&place))
        }
    };
    let suspects = Suspects::of(&trace, is_known);
    // Who is alone has no schedules.
    if trace.thread_count() < 2 {
        return None;
    }
    let again = programs.trust.again(programs.traces, name, &trace).ok()?;
    let names = thread_names(&trace, strip);
    Some((Origin::new(&trace, name, suspects, strip), Runnable { again, names }))
}

fn load(traces: &Path, name: &str) -> Option<Trace> {
    let mut source = Source::open(&locate(traces, name).ok()?, None).ok()?;
    Trace::load(&mut source, |_| {}).ok()
}

/// Runs a program once; nothing if it could not be run under control, or hangs without saying why.
fn run(task: &Task, runnable: &Runnable, settings: &Resolved, left: Duration) -> Option<Ran> {
    let time = settings.run_time.min(RUN_TIME).min(left.max(Duration::from_secs(1)));
    run_as(task, runnable, |program| program, time)
}

/// Makes a run again that has shown something, also after an interrupt.
fn run_again(task: &Task, runnable: &Runnable, settings: &Resolved) -> Option<Ran> {
    run_as(task, runnable, ControlledProgram::uninterrupted, settings.run_time.min(RUN_TIME))
}

fn run_as<'a>(
    task: &Task,
    runnable: &'a Runnable,
    kind: impl FnOnce(ControlledProgram<'a>) -> ControlledProgram<'a>,
    time: Duration,
) -> Option<Ran> {
    let Runnable { again, names } = runnable;
    let program = ControlledProgram::new(&again.words, time).within(&again.surroundings);
    let control = Control::Seed { seed: &task.seed, race: task.race(), places: task.places() };
    let ended = kind(program).unrecorded().unread().run(control, names).ok()?;
    Some(Ran { code: ended.end.code(), outcome: ended.outcome })
}

/// What was shown, as a finding.
fn finding(
    shown: &Shown,
    campaign: &Campaign,
    programs: &Programs<'_>,
    settings: &Resolved,
) -> Option<Finding> {
    let at = shown.task.origin;
    let origin = &campaign.origins()[at];
    let trace = load(programs.traces, &origin.trace)?;
    let anyway = |ending: &_| campaign.ends_so_anyway(at, ending);
    let mut finding = shown.finding(&trace, origin, anyway, &settings.analysis.strip)?;
    for replay in finding.occurrences.iter_mut().filter_map(|it| it.replay.as_mut()) {
        replay.lines = replay_lines(replay);
    }
    Some(finding)
}
