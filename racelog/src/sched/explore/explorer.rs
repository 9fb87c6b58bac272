//! Many runs of one body, each under another schedule.

use std::any::Any;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};

use super::running::Running;
use crate::contract::environment::Variable;
use crate::contract::place::SourcePlace;
use crate::contract::seed::Seed;
use crate::rt;
use crate::sched::engine::monitor;
use crate::sched::engine::run::{Run, RunKind, RunResult};
use crate::sched::front::attach::is_controlled;
use crate::sched::members::current::enter;
use crate::sched::members::member::{Member, message};
use crate::sched::model::failure::{Failure, Lost};
use crate::sched::strategy::{Exhaustive, Guide, Pct, RaceDirected, Random, RealRace, Stop};

/// Runs a body under many schedules, in this process.
///
/// ```
/// use racelog::sched::Explorer;
/// use racelog::sync::atomic::{AtomicU32, Ordering};
/// use racelog::{sync::Arc, thread};
///
/// let failed = Explorer::new().schedules(200).check(|| {
///     let counter = Arc::new(AtomicU32::new(0));
///     let other = thread::spawn({
///         let counter = counter.clone();
///         move || counter.store(counter.load(Ordering::SeqCst) + 1, Ordering::SeqCst)
///     });
///     counter.store(counter.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
///     other.join().unwrap();
///     assert_eq!(counter.load(Ordering::SeqCst), 2);
/// });
/// assert!(failed.is_err(), "an update is lost in some of them");
/// ```
#[derive(Clone, Debug)]
#[must_use = "it runs nothing until `check` is called"]
pub struct Explorer {
    schedules: usize,
    seed: u64,
    max_steps: u64,
    strategy: Strategy,
    #[cfg_attr(not(fibers), expect(dead_code, reason = "there are no fibers"))]
    threads: Threads,
}

/// What the threads of the body are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Threads {
    /// Fibers, where that makes no difference.
    Either,
    Fibers,
    OfTheSystem,
}

/// How many schedules are run by threads before fibers are used: should the body block outside of
/// racelog, that is known then.
#[cfg(fibers)]
const PILOTS: usize = 1;

#[derive(Clone, Debug)]
enum Strategy {
    Random,
    Pct { depth: u32 },
    Race { pairs: Vec<[SourcePlace; 2]> },
    Exhaustive,
}

/// What was found by runs that did not fail.
#[derive(Clone, Default, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// How many schedules were run to their end.
    pub schedules: usize,
    /// How many steps they took together.
    pub steps: u64,
    /// Races that were brought about, by race-directed testing, each with the number of runs.
    pub real_races: Vec<(RealRace, usize)>,
    /// Whether there are no further schedules, as an exhaustive search finds out.
    pub complete: bool,
    /// Where control was lost. From there on a seed decides no longer what happens.
    pub lost: Vec<Lost>,
}

/// A schedule under which the body failed.
pub struct Failed {
    /// The number of the schedule, from 1.
    pub schedule: usize,
    /// What runs it again.
    pub seed: Seed,
    /// What went wrong.
    pub failure: Failure,
    /// What was found before.
    pub summary: Summary,
    pub(in crate::sched) payload: Option<Box<dyn Any + Send>>,
}

impl fmt::Debug for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failed")
            .field("schedule", &self.schedule)
            .field("seed", &self.seed)
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { schedule, seed, failure, summary, .. } = self;
        write!(f, "schedule {schedule} fails: {failure}")?;
        summary.lost.iter().try_for_each(|lost| write!(f, "\n  {lost}"))?;
        write!(f, "\n  to run it again: {}={seed}", Variable::Seed)
    }
}

impl std::error::Error for Failed {}

impl Default for Explorer {
    fn default() -> Self {
        Self::new()
    }
}

impl Explorer {
    /// 1000 schedules of a random walk.
    pub fn new() -> Self {
        Self {
            schedules: 1000,
            seed: 0,
            max_steps: 1_000_000,
            strategy: Strategy::Random,
            threads: Threads::Either,
        }
    }

    /// How many schedules are run, at most.
    pub fn schedules(self, schedules: usize) -> Self {
        Self { schedules, ..self }
    }

    /// What the seeds of the schedules are made from. The same number gives the same schedules.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// A run that takes more steps than this counts as a livelock.
    pub fn max_steps(self, max_steps: u64) -> Self {
        Self { max_steps, ..self }
    }

    /// Every thread that can go on is as likely as any other.
    pub fn random(self) -> Self {
        Self { strategy: Strategy::Random, ..self }
    }

    /// Probabilistic concurrency testing, for bugs that need so many things in the right order.
    pub fn pct(self, depth: u32) -> Self {
        Self { strategy: Strategy::Pct { depth }, ..self }
    }

    /// Race-directed random testing: tries to bring two threads together at these statements. The
    /// pairs take turns.
    pub fn race_directed(
        self,
        pairs: impl IntoIterator<Item = (SourcePlace, SourcePlace)>,
    ) -> Self {
        let pairs = pairs.into_iter().map(|(first, second)| [first, second]).collect();
        Self { strategy: Strategy::Race { pairs }, ..self }
    }

    /// All schedules, but for those that differ only in the order of independent steps.
    pub fn exhaustive(self) -> Self {
        Self { strategy: Strategy::Exhaustive, ..self }
    }

    /// The threads of the body are fibers of the calling thread from the first schedule on, and
    /// what fails there counts. A switch is then some function calls, and a schedule many times
    /// faster.
    ///
    /// Without this and [`threads`](Self::threads), fibers are used where that makes no difference:
    /// see [the module](crate::sched#fibers-and-threads). Where there are no fibers, and in runs
    /// that are recorded, threads are threads.
    pub fn fibers(self) -> Self {
        Self { threads: Threads::Fibers, ..self }
    }

    /// The threads of the body are threads of the system.
    pub fn threads(self) -> Self {
        Self { threads: Threads::OfTheSystem, ..self }
    }

    /// Runs the body under one schedule after the other, until one fails.
    ///
    /// # Errors
    ///
    /// The first schedule under which the body, or a thread of its that nobody joins, panics, or
    /// that ends in a deadlock or not at all.
    ///
    /// # Panics
    ///
    /// Within a body that is being run by another call.
    pub fn check(&self, body: impl Fn()) -> Result<Summary, Box<Failed>> {
        let silence = rt::silence();
        let result = self.check_all(&body);
        drop(silence);
        result
    }

    fn check_all(&self, body: &dyn Fn()) -> Result<Summary, Box<Failed>> {
        let mut summary = Summary::default();
        let mut numbers = Numbers(self.seed);
        let mut search = Some(Exhaustive::new());
        let mut longest = 1;
        let mut schedule = 0;
        let mut runner = Runner::new(self, body);
        let mut running: Option<Running> = None;
        while schedule < self.schedules {
            let seed = match &self.strategy {
                Strategy::Random => Some(Seed::Random { number: numbers.next() }),
                Strategy::Pct { depth } => {
                    Some(Seed::Pct { depth: *depth, length: longest, number: numbers.next() })
                }
                Strategy::Race { pairs } if pairs.is_empty() => return Ok(summary),
                Strategy::Race { pairs } => {
                    Some(Seed::Race { pair: schedule % pairs.len(), number: numbers.next() })
                }
                Strategy::Exhaustive => None,
            };
            let guide = match &seed {
                Some(seed) => self.guide(seed).expect("the explorer's own seeds fit"),
                None => Guide::Exhaustive(search.take().expect("it is put back after every run")),
            };
            match (&running, &seed) {
                (Some(running), Some(seed)) => running.next(seed),
                (None, Some(seed)) => running = Some(Running::new(seed.clone())),
                (_, None) => {}
            }
            let (result, payload) = runner.run(guide, seed.as_ref());
            longest = longest.max(result.steps);
            schedule += 1;
            let path = match &result.guide {
                Guide::Exhaustive(search) => Seed::Path(search.choices()),
                _ => Seed::Path(Vec::new()),
            };
            let seed = seed.unwrap_or(path);
            let guide = summary.add(result, schedule, seed, payload)?;
            if let Guide::Exhaustive(mut done) = guide {
                summary.complete = !done.advance();
                if summary.complete {
                    break;
                }
                search = Some(done);
            }
        }
        Ok(summary)
    }

    /// Runs the body under the schedule that the seed stands for. If the process is recorded, so
    /// is the run.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    ///
    /// # Panics
    ///
    /// If the seed is of race-directed testing and this explorer has no such pair; and within a
    /// body that is being run by another call.
    pub fn replay(&self, seed: &Seed, body: impl Fn()) -> Result<Summary, Box<Failed>> {
        let Some(guide) = self.guide(seed) else {
            panic!("the seed `{seed}` does not fit: it is of a pair that is not explored here");
        };
        let mut summary = Summary::default();
        let running = Running::new(seed.clone());
        let (result, payload) = Runner::new(self, &body).replay(guide, seed);
        drop(running);
        summary.add(result, 1, seed.clone(), payload)?;
        Ok(summary)
    }

    /// Whether the threads of the body may be fibers. A search of all schedules says something of
    /// those that it has not run, so it is made by threads if nothing else is asked for; and what
    /// is recorded are threads.
    #[cfg(fibers)]
    fn can_use_fibers(&self) -> bool {
        let is_asked_for = match self.threads {
            Threads::Fibers => true,
            Threads::Either => !matches!(self.strategy, Strategy::Exhaustive),
            Threads::OfTheSystem => false,
        };
        is_asked_for && rt::with(|_| ()).is_none()
    }

    fn guide(&self, seed: &Seed) -> Option<Guide> {
        Some(match (seed, &self.strategy) {
            (Seed::Random { number }, _) => Guide::Random(Random::new(*number)),
            (Seed::Pct { depth, length, number }, _) => {
                Guide::Pct(Pct::new(*depth, *length, *number))
            }
            (Seed::Race { pair, number }, Strategy::Race { pairs }) => {
                Guide::Race(Box::new(RaceDirected::new(pairs.get(*pair)?.clone(), *number)))
            }
            // It knows no places.
            (Seed::Race { .. } | Seed::Held { .. }, _) => return None,
            (Seed::Path(choices), _) => Guide::Exhaustive(Exhaustive::along(choices)),
        })
    }
}

/// How a run ended, and what the first thread panicked with.
type Ended = (RunResult, Option<Box<dyn Any + Send>>);

/// Runs a body, by fibers as long as that makes no difference.
struct Runner<'a> {
    explorer: &'a Explorer,
    body: &'a dyn Fn(),
    /// Whether fibers can be used, as far as is known.
    #[cfg(fibers)]
    can_be_fibers: bool,
    /// How many schedules were run by threads first.
    #[cfg(fibers)]
    pilots: usize,
}

impl<'a> Runner<'a> {
    fn new(explorer: &'a Explorer, body: &'a dyn Fn()) -> Self {
        assert!(!is_controlled(), "a body that is explored cannot explore another");
        Self {
            explorer,
            body,
            #[cfg(fibers)]
            can_be_fibers: explorer.can_use_fibers(),
            #[cfg(fibers)]
            pilots: 0,
        }
    }

    #[cfg(not(fibers))]
    fn run(&mut self, guide: Guide, _: Option<&Seed>) -> Ended {
        self.by_threads(guide)
    }

    /// Runs the body once. The seed is that of the guide, if it has one.
    #[cfg(fibers)]
    fn run(&mut self, guide: Guide, seed: Option<&Seed>) -> Ended {
        let insists = self.explorer.threads == Threads::Fibers;
        if !self.can_be_fibers {
            return self.by_threads(guide);
        }
        if self.pilots < PILOTS && !insists {
            self.pilots += 1;
            let ended = self.by_threads(guide);
            self.can_be_fibers = ended.0.lost.is_empty();
            return ended;
        }
        let ended = crate::sched::front::fiber::run(guide, self.explorer.max_steps, self.body);
        // Who blocks outside would do so again, and that takes long.
        self.can_be_fibers = ended.0.lost.is_empty();
        let Some(seed) = seed.filter(|_| !insists) else { return ended };
        let text = |ended: &Ended| ended.0.failure.as_ref().map(ToString::to_string);
        let fails = text(&ended);
        if fails.is_none() {
            return ended;
        }
        let guide = self.explorer.guide(seed).expect("it has fitted before");
        let again = self.by_threads(guide);
        // What threads do not do, fibers do by what they share: they are not used any more.
        self.can_be_fibers &= text(&again) == fails;
        again
    }

    /// Runs the body under one schedule.
    fn replay(self, guide: Guide, seed: &Seed) -> Ended {
        #[cfg(fibers)]
        if self.can_be_fibers && self.explorer.threads == Threads::Fibers {
            let mut this = self;
            return this.run(guide, Some(seed));
        }
        let _ = seed;
        self.by_threads(guide)
    }

    fn by_threads(&self, guide: Guide) -> Ended {
        run_threads(guide, self.explorer.max_steps, self.body)
    }
}

/// Runs the body once, in threads of the system.
fn run_threads(guide: Guide, max_steps: u64, body: &dyn Fn()) -> Ended {
    let run = Run::new(guide, max_steps, RunKind::Threads);
    monitor::watch(&run, None);
    let first = Member::new(run.clone(), run.first(Some("main".to_owned())));
    let log = rt::about_to_be_controlled();
    let entered = enter(&first);
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    drop(entered);
    let payload = result.err();
    let text = payload.as_deref().and_then(message);
    let payload = payload.filter(|_| text.is_some());
    run.finish(first.slot(), text, &first.turn().ended);
    run.wait_until_over();
    drop(log);
    (run.result(), payload)
}

impl Summary {
    /// Adds a run; gives its guide back.
    fn add(
        &mut self,
        result: RunResult,
        schedule: usize,
        seed: Seed,
        payload: Option<Box<dyn Any + Send>>,
    ) -> Result<Guide, Box<Failed>> {
        let RunResult { guide, failure, stopped, lost, steps } = result;
        self.lost.extend(lost);
        self.steps += steps;
        let failure = match stopped {
            Some(Stop::NotDeterministic(what)) => Some(Failure::NotDeterministic { what }),
            Some(Stop::Redundant | Stop::Diverged | Stop::Sleep(_)) => None,
            // What threads stand still by is a failure of its own.
            Some(Stop::Circle(_) | Stop::StandStill) | None => {
                self.schedules += 1;
                failure
            }
        };
        let guide = match guide {
            Guide::Race(race) => {
                for found in race.found() {
                    match self.real_races.iter_mut().find(|(known, _)| *known == found) {
                        Some((_, runs)) => *runs += 1,
                        None => self.real_races.push((found, 1)),
                    }
                }
                Guide::Random(Random::new(0))
            }
            guide => guide,
        };
        match failure {
            None => Ok(guide),
            Some(failure) => {
                let payload = payload.filter(|_| matches!(failure, Failure::Panic { .. }));
                let summary = std::mem::take(self);
                Err(Box::new(Failed { schedule, seed, failure, summary, payload }))
            }
        }
    }
}

/// The seeds of the schedules: well mixed, so that neighbouring explorers share none.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        // SplitMix64, by Steele, Lea and Flood.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}
