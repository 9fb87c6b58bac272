//! A whole process under control, or one test of it, as the environment asks for.
//!
//! | variable | meaning |
//! | --- | --- |
//! | `RACELOG_CONTROL` | a seed: the process runs under control, by that seed |
//! | `RACELOG_RACE` | two places, with a comma between: what `race:` seeds in `RACELOG_CONTROL` are directed to, and others look out for |
//! | `RACELOG_PLACES` | places, with commas between: what `circle:`, `between:`, `wait:` and `late:` seeds in `RACELOG_CONTROL` go by |
//! | `RACELOG_SCHEDULE` | a file with a [schedule](crate::contract::schedule): the process is recorded and replays it |
//! | `RACELOG_MAX_STEPS` | after so many steps a process that has not ended counts as a livelock; 10 million if it is not set |
//! | `RACELOG_OUTCOME` | the file that says how that went; that of the schedule, with `.outcome` at its end, if it is not set. By a seed, only if it is set |

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};
use std::{env, fmt, fs, panic};

use super::outcome::{self, FirstPanic};
use super::strategy::{Exhaustive, Guide, HeldBack, Pct, RaceDirected, Random, Reached, Replay};
use crate::contract::environment::Variable;
use crate::contract::outcome::{GAVE_UP, RunOutcome};
use crate::contract::place::{PlaceList, PlacePair, SourcePlace};
use crate::contract::schedule::Schedule;
use crate::contract::seed::Seed;
use crate::rt;
use crate::sched::engine::monitor;
use crate::sched::engine::run::{ProcessHooks, Run, RunKind};
use crate::sched::engine::state::State;
use crate::sched::members::current::{Entered, enter, finish, path};
use crate::sched::members::member::{Member, message};
use crate::sched::model::place::place_at;

/// A process that does not end counts as a livelock after so many steps, if nothing else is asked
/// for: about a second of a thread that spins alone.
const MAX_STEPS: u64 = 10_000_000;

/// What the environment asks for.
enum Wanted {
    Control {
        seed: Seed,
        race: Option<PlacePair>,
        places: Vec<SourcePlace>,
        outcome: Option<PathBuf>,
    },
    Replay {
        schedule: Box<Schedule>,
        outcome: PathBuf,
    },
}

impl Wanted {
    /// The file that says how it went, if one is wanted.
    fn outcome(&self) -> Option<&Path> {
        match self {
            Self::Replay { outcome, .. } => Some(outcome),
            Self::Control { outcome, .. } => outcome.as_deref(),
        }
    }
}

fn wanted() -> Option<&'static Wanted> {
    static WANTED: OnceLock<Option<Wanted>> = OnceLock::new();
    WANTED
        .get_or_init(|| match read_environment() {
            Ok(wanted) => wanted,
            Err(why) => {
                // To run it in some other way would be to answer another question.
                eprintln!("racelog: {why}");
                std::process::exit(2);
            }
        })
        .as_ref()
}

/// After how many steps the process counts as a livelock.
fn max_steps() -> u64 {
    static STEPS: OnceLock<u64> = OnceLock::new();
    *STEPS.get_or_init(|| match env::var(Variable::MaxSteps) {
        Err(_) => MAX_STEPS,
        Ok(text) => match text.parse() {
            Ok(steps) if steps > 0 => steps,
            _ => {
                eprintln!("racelog: {}: `{text}` is no number of steps", Variable::MaxSteps);
                std::process::exit(2);
            }
        },
    })
}

fn read_environment() -> Result<Option<Wanted>, String> {
    if let Some(path) = env::var_os(Variable::Schedule) {
        let path = PathBuf::from(path);
        let shown = path.display();
        let text = fs::read_to_string(&path).map_err(|error| format!("{shown}: {error}"))?;
        let schedule = text.parse().map_err(|error| format!("{shown}: {error}"))?;
        let schedule: Box<Schedule> = Box::new(schedule);
        let outcome = env::var_os(Variable::Outcome).map_or_else(
            || {
                let mut name = path.clone().into_os_string();
                name.push(".outcome");
                PathBuf::from(name)
            },
            PathBuf::from,
        );
        return Ok(Some(Wanted::Replay { schedule, outcome }));
    }
    let Ok(seed) = env::var(Variable::Control) else { return Ok(None) };
    let seed: Seed = seed.parse().map_err(|error| format!("{}: {error}", Variable::Control))?;
    let race: Option<PlacePair> = match env::var(Variable::Race) {
        Err(_) => None,
        Ok(text) => Some(text.parse().map_err(|error| format!("{}: {error}", Variable::Race))?),
    };
    if matches!(seed, Seed::Race { .. }) && race.is_none() {
        return Err(format!(
            "{}: `{seed}` needs two places in {}",
            Variable::Control,
            Variable::Race
        ));
    }
    let places = match env::var(Variable::Places) {
        Err(_) => Vec::new(),
        Ok(text) => {
            let places: Result<PlaceList, _> = text.parse();
            places.map_err(|error| format!("{}: {error}", Variable::Places))?.0
        }
    };
    if matches!(seed, Seed::Held { manoeuvre, .. } if !manoeuvre.takes(places.len())) {
        return Err(format!(
            "{}: `{seed}` cannot go by {} places in {}",
            Variable::Control,
            places.len(),
            Variable::Places
        ));
    }
    let outcome = env::var_os(Variable::Outcome).map(PathBuf::from);
    Ok(Some(Wanted::Control { seed, race, places, outcome }))
}

/// Whether the process, or a test of it, runs under control.
pub(crate) fn is_process_controlled() -> bool {
    wanted().is_some()
}

/// Whether the process replays a schedule.
pub(crate) fn is_replay() -> bool {
    matches!(wanted(), Some(Wanted::Replay { .. }))
}

fn guide(wanted: &Wanted) -> Guide {
    match wanted {
        Wanted::Replay { schedule, .. } => {
            Guide::Replay(Box::new(Replay::new((**schedule).clone())))
        }
        Wanted::Control { seed, race, places, .. } => {
            let guide = match seed {
                Seed::Random { number } => Guide::Random(Random::new(*number)),
                Seed::Pct { depth, length, number } => {
                    Guide::Pct(Pct::new(*depth, *length, *number))
                }
                Seed::Held { manoeuvre, number } => {
                    Guide::Held(Box::new(HeldBack::new(*manoeuvre, places.clone(), *number)))
                }
                Seed::Path(choices) => Guide::Exhaustive(Exhaustive::along(choices)),
                Seed::Race { number, .. } => match race {
                    Some(PlacePair(places)) => {
                        return Guide::Race(Box::new(RaceDirected::new(places.clone(), *number)));
                    }
                    None => Guide::Random(Random::new(*number)),
                },
            };
            match race {
                Some(PlacePair(places)) => {
                    Guide::Watched(Box::new(guide), Box::new(RaceDirected::new(places.clone(), 0)))
                }
                None => guide,
            }
        }
    }
}

/// The run of the process, once it has begun.
static RUN: Mutex<Option<Arc<Run>>> = Mutex::new(None);

fn run() -> Option<Arc<Run>> {
    RUN.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The first panic.
static PANIC: Mutex<Option<FirstPanic>> = Mutex::new(None);

/// The calling thread's membership in the run of the process, if there is one.
pub(super) fn member() -> Option<Member> {
    let wanted = wanted()?;
    match wanted {
        Wanted::Replay { schedule, .. } if schedule.test.is_some() => {
            note_stranger();
            None
        }
        _ => Some(join(wanted)),
    }
}

/// The names of threads that do something while a test is replayed, and that it has not started.
static STRANGERS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The calling thread is none of the run's. That matters once the test has begun.
fn note_stranger() {
    if run().is_some() {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("without a name").to_owned();
        STRANGERS.lock().unwrap_or_else(PoisonError::into_inner).push(name);
    }
}

/// Makes the calling thread a thread of the run; the first of all begins it.
fn join(wanted: &Wanted) -> Member {
    let name = std::thread::current().name().map(str::to_owned);
    let mut run = RUN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(run) = &*run {
        return Member::new(run.clone(), run.stranger(name));
    }
    let hooks = ProcessHooks { give_up, report_news: report_so_far };
    let new = Run::new(guide(wanted), max_steps(), RunKind::Process(hooks));
    monitor::watch(&new, None);
    listen();
    *run = Some(new.clone());
    let first = new.first(name);
    Member::new(new, first)
}

/// Wants to know of panics, and of the end of the process.
fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        rt::at_exit(at_exit);
        // Who panics must not change what happens then.
        if std::thread::panicking() {
            return;
        }
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if let Some(message) = message(info.payload()) {
                let place = info.location().map(place_at);
                let first = FirstPanic { message, thread: path(), place };
                PANIC.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(first);
            }
            before(info);
        }));
    });
}

extern "C" fn at_exit() {
    if let Some(run) = run() {
        report(&run);
    }
}

/// One test under control.
pub(crate) struct TestControl {
    member: Box<Member>,
    entered: Option<Entered>,
}

impl TestControl {
    /// Begins to replay, if the test is the one that the environment asks for.
    pub(crate) fn start(name: &str) -> Option<Self> {
        let wanted = wanted()?;
        let asked = match wanted {
            Wanted::Replay { schedule, .. } => schedule.test.as_deref() == Some(name),
            Wanted::Control { .. } => false,
        };
        let begun = run().is_some();
        (asked && !begun).then(|| {
            // It stays so: the test is the only one that counts.
            std::mem::forget(rt::about_to_be_controlled());
            let member = Box::new(join(wanted));
            let entered = Some(enter(&member));
            Self { member, entered }
        })
    }
}

impl fmt::Debug for TestControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestControl").finish_non_exhaustive()
    }
}

impl Drop for TestControl {
    fn drop(&mut self) {
        self.entered = None;
        finish(&self.member);
        report(self.member.run());
    }
}

/// The program cannot go on, or not as it should.
fn give_up(run: &Run) -> ! {
    {
        let state = run.lock();
        if let Some(failure) = &state.failure {
            eprintln!("racelog: {failure}");
        }
        if let Guide::Replay(replay) = &state.guide {
            if let Reached::Diverged(divergence) = replay.progress().reached {
                eprintln!("racelog: {divergence}");
            }
        }
    }
    // The calling thread has not come to its end: it stands where it cannot go on.
    rt::abandon_log();
    std::process::exit(GAVE_UP)
}

/// Says how it went, and where control was lost.
fn report(run: &Run) {
    let state = run.lock();
    for lost in &state.lost {
        eprintln!("racelog: {lost}");
    }
    let races = match &state.guide {
        Guide::Race(race) | Guide::Watched(_, race) => race.found(),
        _ => Vec::new(),
    };
    for race in &races {
        eprintln!("racelog: {race}");
    }
    let Some(outcome) = wanted().and_then(Wanted::outcome) else { return };
    let panicked = PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let strangers = STRANGERS.lock().unwrap_or_else(PoisonError::into_inner);
    write(outcome, &outcome::whole(&state, panicked.as_ref(), &strangers));
}

/// Says of a replay how far it is, and of a race that it has happened: should something end the
/// process that lets nobody speak, that remains.
fn report_so_far(state: &State) {
    if let Some(outcome) = wanted().and_then(Wanted::outcome) {
        write(outcome, &outcome::so_far(state));
    }
}

fn write(path: &Path, outcome: &RunOutcome) {
    if let Err(error) = fs::write(path, outcome.to_string()) {
        eprintln!("racelog: {}: {error}", path.display());
    }
}
