//! Runs under control that are directed to suspects: what is run next, and what the runs say.
//!
//! After Sen, "Race Directed Random Testing of Concurrent Programs" (PLDI 2008): what an analysis
//! suspects and cannot prove is tried, and what happens is reported. This module runs nothing. Who
//! runs the programs asks for [rounds](Campaign::round) of [`Task`]s, says how each ended, and has
//! the [findings](Shown) in the end.
//!
//! In the first rounds every program with several threads is run once, directed to nothing: by a
//! random walk, and by priorities in turn. That says whether the program can be run under control
//! at all, and what goes wrong in any such run; and where nothing is suspected, it is all there is
//! to try. Besides, each suspect has a run in every round but the first, with the next seed, until
//! it has happened or has had [`TRIES`].
//!
//! Claim: a finding has happened, in a run that its seed brings about again. A suspect that was
//! tried in vain may be a bug all the same. What goes wrong in every run under control is no
//! finding: it may be due to control, such as a test that measures time.

mod endings;
mod shown;

use std::collections::BTreeMap;

use racelog::contract::place::{PlaceList, PlacePair};
use racelog::contract::seed::{Manoeuvre, Seed};
use racelog::trace::VarId;

pub use self::endings::Failures;
use self::endings::{Endings, is_of_interest};
use self::shown::has_met;
pub use self::shown::{Shown, happens_again};
use crate::fuzz::{self, Strategy};
use crate::project::RunOfTrace;
use crate::replay::{Aftermath, ControlledRun, Ending};
use crate::suspects::{Suspects, Target};
use crate::trace::Trace;

/// How many runs a suspect has at most, if what is suspected shows itself.
pub const TRIES: usize = 16;

/// How many it has, if it shows only by what goes wrong then.
pub const FEWER_TRIES: usize = 6;

/// How many runs a suspect has, and a program, even if that takes longer than it should: how fast a
/// machine happens to be is not to decide what is found.
const FIRST: usize = 4;

/// After how many runs that did not end a program is left.
const MOST_UNENDED: usize = 2;

/// In how many traces a suspect is tried that several have.
const TRACES: usize = 3;

/// How many runs a program has that are directed to nothing.
const PILOTS: usize = 8;

/// How many it has, if all of its runs go wrong in the same way, before that is believed.
const MOST_PILOTS: usize = 16;

/// How many changes of priorities a run by priorities has, and one.
pub const DEPTH: u32 = 3;

/// A program, or one test of it, that has left a trace and can be run again.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The name of the trace.
    pub trace: String,
    /// What there is to try.
    pub suspects: Suspects,
    /// How many steps a run has, about.
    length: u64,
    /// The variable of each suspect, if it is about one.
    variables: Vec<Option<VarId>>,
    /// How the recorded run ended, if that is known.
    pub recorded: Option<Ending>,
    /// Whether it is known of all threads of the recorded run who started them, so that threads
    /// that wait can only be helped by others that are known.
    pub knows_all_threads: bool,
}

impl Origin {
    /// What is known of a trace. The prefixes are taken off the names of files.
    pub fn new(trace: &Trace, name: &str, suspects: Suspects, prefixes: &[String]) -> Self {
        let variable = |event| trace.accessed(event);
        let first = |suspect: &crate::suspects::Suspect| suspect.events.first().copied();
        let variables = suspects.all.iter().map(|it| first(it).and_then(variable)).collect();
        Self {
            trace: name.to_owned(),
            suspects,
            length: trace.len().max(1) as u64,
            variables,
            recorded: Ending::recorded(trace, prefixes),
            knows_all_threads: trace.foreign_threads().next().is_none()
                && trace.unattributed().is_empty(),
        }
    }
}

/// A run that is to be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// Which of the origins is run.
    pub origin: usize,
    /// What decides the run.
    pub seed: Seed,
    /// What it is directed to, if it is directed.
    pub target: Option<Target>,
    /// Which suspect that is.
    suspect: Option<usize>,
    /// Whether it is one of the first runs, which are made even if time is short.
    pub is_first: bool,
}

impl Task {
    /// A run that is directed to nothing.
    fn blind(origin: usize, seed: Seed, is_first: bool) -> Self {
        Self { origin, seed, target: None, suspect: None, is_first }
    }

    /// The two places that the run looks out for a race at, if it does.
    pub fn race(&self) -> Option<&PlacePair> {
        match self.target.as_ref()? {
            Target::Race(places) => Some(places),
            Target::Held(..) => None,
        }
    }

    /// The places that threads are held back at, if they are.
    pub fn places(&self) -> Option<&PlaceList> {
        match self.target.as_ref()? {
            Target::Race(_) => None,
            Target::Held(_, places) => Some(places),
        }
    }
}

/// A run that is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ran {
    /// How it went.
    pub outcome: ControlledRun,
    /// The exit code, if it had one.
    pub code: Option<i32>,
}

impl Ran {
    /// How the program ended.
    pub fn ending(&self) -> Ending {
        let ControlledRun { then, panicked, .. } = &self.outcome;
        Ending { then: then.clone(), panicked: panicked.clone(), code: self.code }
    }
}

/// A suspect, in all traces that have it.
#[derive(Debug)]
struct Entry {
    /// The origins that have it, and its place among their suspects.
    at: Vec<(usize, usize)>,
    /// How many runs it has had.
    tries: usize,
    /// The first run in which it happened.
    hit: Option<Hit>,
    /// Another suspect has happened that is about the same variable.
    is_covered: bool,
    /// A run that was directed to it went wrong in a way that may be news.
    has_failed: bool,
    /// How many runs it has at most.
    most: usize,
}

impl Entry {
    fn new(target: &Target) -> Self {
        let most = match target {
            Target::Race(_) | Target::Held(Manoeuvre::Circle, _) => TRIES,
            // The one place there is leaves nothing to choose.
            Target::Held(Manoeuvre::Late, PlaceList(places)) if places.len() == 1 => 3,
            Target::Held(Manoeuvre::Between | Manoeuvre::Wait | Manoeuvre::Late, _) => FEWER_TRIES,
        };
        Self { at: Vec::new(), tries: 0, hit: None, is_covered: false, has_failed: false, most }
    }

    /// Whether it is not tried any more.
    fn is_done(&self) -> bool {
        self.hit.is_some() || self.is_covered || self.has_failed || self.tries >= self.most
    }
}

/// A run in which a suspect happened.
#[derive(Clone, Debug)]
struct Hit {
    task: Task,
    ran: Ran,
    /// How many runs the suspect had, with this one.
    runs: usize,
    /// The two places that were met.
    met: PlacePair,
}

/// What was done.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Done {
    /// How many suspects were tried.
    pub suspects: u64,
    /// How many were not, or not as often as they should be: there were too many, or too little
    /// time.
    pub left: u64,
    /// How many runs there were.
    pub runs: u64,
    /// How many of them happened, or led to something that went wrong.
    pub happened: u64,
    /// How many runs did not end.
    pub unended: u64,
    /// In how many runs control was lost.
    pub lost: u64,
    /// The first run that did not end.
    pub unended_example: Option<RunOfTrace>,
}

/// Many runs of many programs.
#[derive(Debug)]
pub struct Campaign {
    origins: Vec<Origin>,
    /// In the order in which they are tried.
    entries: Vec<Entry>,
    endings: Vec<Endings>,
    /// Which origins can be run under control, as far as it is known.
    is_runnable: Vec<bool>,
    seeds: Vec<u64>,
    has_begun: bool,
    runs: u64,
    unended: u64,
    lost: u64,
    unended_example: Option<RunOfTrace>,
}

impl Campaign {
    /// All suspects of all origins; one that several have is tried as one.
    pub fn new(origins: Vec<Origin>) -> Self {
        let mut known: BTreeMap<&Target, usize> = BTreeMap::new();
        let mut entries: Vec<Entry> = Vec::new();
        // The best of each origin come first.
        let most = origins.iter().map(|origin| origin.suspects.all.len()).max().unwrap_or(0);
        let places = (0..most).flat_map(|rank| (0..origins.len()).map(move |at| (at, rank)));
        for (at, rank) in places {
            let Some(suspect) = origins[at].suspects.all.get(rank) else { continue };
            let entry = *known.entry(&suspect.target).or_insert_with(|| {
                entries.push(Entry::new(&suspect.target));
                entries.len() - 1
            });
            entries[entry].at.push((at, rank));
        }
        for entry in &mut entries {
            entry.at.truncate(TRACES);
        }
        let seeds = fuzz::Campaign {
            strategy: Strategy::Race,
            runs: TRIES.max(MOST_PILOTS) + 1,
            seed: 0,
            depth: 0,
            length: 0,
        };
        Self {
            endings: origins.iter().map(|_| Endings::default()).collect(),
            is_runnable: vec![true; origins.len()],
            origins,
            entries,
            seeds: seeds.seeds(),
            has_begun: false,
            runs: 0,
            unended: 0,
            lost: 0,
            unended_example: None,
        }
    }

    /// The origins.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// How many runs there will be at most.
    pub fn size(&self) -> usize {
        PILOTS * self.origins.len() + self.entries.iter().map(|entry| entry.most).sum::<usize>()
    }

    /// What to run next. If it is nothing, all is done.
    pub fn round(&mut self) -> Vec<Task> {
        if !std::mem::replace(&mut self.has_begun, true) {
            return (0..self.origins.len()).map(|origin| self.pilot(origin)).collect();
        }
        // What goes wrong in each run is only believed of those that go well in another.
        let has_pilot = |at: &usize| {
            let endings = &self.endings[*at];
            let is_doubted =
                || endings.pilots < MOST_PILOTS && endings.need_another(&self.origins[*at]);
            self.is_runnable[*at] && (endings.pilots < PILOTS || is_doubted())
        };
        let pilots = (0..self.origins.len()).filter(has_pilot).map(|origin| self.pilot(origin));
        let directed = (0..self.entries.len()).filter_map(|entry| self.next_of(entry));
        pilots.chain(directed).collect()
    }

    /// A run that is directed to nothing.
    fn pilot(&self, origin: usize) -> Task {
        let pilots = self.endings[origin].pilots;
        let number = self.seeds[pilots];
        let seed = match pilots % 2 {
            0 => Seed::Random { number },
            _ => Seed::Pct { depth: DEPTH, length: self.origins[origin].length, number },
        };
        Task::blind(origin, seed, pilots < FIRST)
    }

    /// The next run of a suspect that has not happened.
    fn next_of(&self, number: usize) -> Option<Task> {
        let entry = &self.entries[number];
        if entry.is_done() {
            return None;
        }
        let at = entry.at.iter().filter(|(origin, _)| self.is_runnable[*origin]);
        let at: Vec<&(usize, usize)> = at.collect();
        let (origin, rank) = **at.get(entry.tries % at.len().max(1))?;
        let target = self.origins[origin].suspects.all[rank].target.clone();
        let seed = self.seeds[entry.tries];
        let seed = match target {
            Target::Race(_) => Seed::Race { pair: 0, number: seed },
            Target::Held(manoeuvre, _) => Seed::Held { manoeuvre, number: seed },
        };
        let is_first = entry.tries < FIRST;
        Some(Task { origin, seed, target: Some(target), suspect: Some(number), is_first })
    }

    /// A run is over.
    pub fn note(&mut self, task: &Task, ran: &Ran) {
        self.runs += 1;
        self.lost += u64::from(!ran.outcome.lost.is_empty());
        if matches!(ran.outcome.then, Aftermath::Livelock | Aftermath::Stuck | Aftermath::Unended) {
            self.unended += 1;
            self.endings[task.origin].unended += 1;
            // It may never end, and others want the time.
            self.is_runnable[task.origin] &= self.endings[task.origin].unended < MOST_UNENDED;
            self.unended_example.get_or_insert_with(|| RunOfTrace {
                trace: self.origins[task.origin].trace.clone(),
                control: task.seed.to_string(),
            });
        }
        let endings = &mut self.endings[task.origin];
        let Some(number) = task.suspect else {
            endings.pilots += 1;
            endings.note(task, ran);
            return;
        };
        self.entries[number].tries += 1;
        if ran.outcome.races.is_empty() {
            let has_failed =
                endings.note(task, ran) && is_of_interest(ran, &self.origins[task.origin]);
            self.entries[number].has_failed |= has_failed;
            return;
        }
        // What follows a race belongs to it.
        self.note_races(task, ran, number);
    }

    /// Two threads have met, at the places of this suspect or of another one.
    fn note_races(&mut self, task: &Task, ran: &Ran, number: usize) {
        let origin = task.origin;
        for at in 0..self.entries.len() {
            let Some(rank) = self.rank_of(at, origin) else { continue };
            let Target::Race(pair) = &self.origins[origin].suspects.all[rank].target else {
                continue;
            };
            if self.entries[at].hit.is_some() || !has_met(&ran.outcome, pair) {
                continue;
            }
            let (task, ran, met) = (task.clone(), ran.clone(), pair.clone());
            let runs = self.entries[number].tries;
            self.entries[at].hit = Some(Hit { task, ran, runs, met });
            let variable = self.variable_of(at, origin);
            for other in 0..self.entries.len() {
                let same = variable.is_some() && self.variable_of(other, origin) == variable;
                self.entries[other].is_covered |= same && other != at;
            }
        }
    }

    /// The place of a suspect among those of a program, if it has it.
    fn rank_of(&self, entry: usize, origin: usize) -> Option<usize> {
        self.entries[entry].at.iter().find(|(at, _)| *at == origin).map(|(_, rank)| *rank)
    }

    fn variable_of(&self, entry: usize, origin: usize) -> Option<VarId> {
        self.origins[origin].variables[self.rank_of(entry, origin)?]
    }

    /// A program could not be run under control: it is not tried again.
    pub fn give_up(&mut self, task: &Task) {
        self.is_runnable[task.origin] = false;
    }

    /// What was done.
    pub fn done(&self) -> Done {
        let is_done = |entry: &&Entry| entry.is_done();
        let tried = |entry: &&Entry| entry.tries > 0 || entry.is_covered;
        let beyond: usize = self.origins.iter().map(|origin| origin.suspects.left_out).sum();
        let unfinished = self.entries.len() - self.entries.iter().filter(is_done).count();
        Done {
            suspects: self.entries.iter().filter(tried).count() as u64,
            left: (unfinished + beyond) as u64,
            runs: self.runs,
            happened: self.shown().len() as u64,
            unended: self.unended,
            lost: self.lost,
            unended_example: self.unended_example.clone(),
        }
    }

    /// Whether anything was found by now.
    pub fn has_shown(&self) -> bool {
        !self.shown().is_empty()
    }

    /// What was found, in the order of the suspects.
    pub fn shown(&self) -> Vec<Shown> {
        let suspects = self.entries.iter().filter_map(|entry| {
            let hit = entry.hit.as_ref()?;
            let at = entry.at.iter().find(|(origin, _)| *origin == hit.task.origin)?;
            let rank = at.1;
            Some(Shown::suspect(hit, rank))
        });
        let endings = self.endings.iter().zip(&self.origins);
        let failures = endings.flat_map(|(endings, origin)| endings.news(origin));
        suspects.chain(failures).collect()
    }

    /// Whether runs of this program that were directed to nothing have ended so.
    pub fn ends_so_anyway(&self, origin: usize, ending: &Ending) -> bool {
        let recorded = self.origins[origin].recorded.as_ref();
        recorded.is_some_and(|recorded| recorded.is_like(ending))
            || self.endings[origin].has(ending)
    }
}

#[cfg(test)]
mod tests;
