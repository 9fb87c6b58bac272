//! How tests come to explore: `explore`, and what `#[racelog::test(schedules = …)]` calls.

use std::panic;
use std::sync::{Mutex, Once, PoisonError};

use super::explorer::{Explorer, Failed, Summary};
use super::process::is_replay;
use super::seed::Seed;
use super::test_session::TestSession;
use crate::rt;

/// Runs the body under 1000 random schedules, and panics if one of them fails. With `RACELOG_SEED`
/// in the environment it runs only that one.
///
/// ```
/// use racelog::{sync::Mutex, thread};
///
/// racelog::explore(|| {
///     let sum = Mutex::new(0);
///     thread::scope(|scope| {
///         scope.spawn(|| *sum.lock().unwrap() += 1);
///         scope.spawn(|| *sum.lock().unwrap() += 2);
///     });
///     assert_eq!(sum.into_inner().unwrap(), 3);
/// });
/// ```
pub fn explore(body: impl Fn()) {
    explore_with(&Explorer::new(), body);
}

/// As [`explore`], with an explorer of one's own.
pub fn explore_with(explorer: &Explorer, body: impl Fn()) {
    settle(match seed_of_environment() {
        Some(seed) => explorer.replay(&seed, body),
        None => explorer.check(body),
    });
}

/// Runs a test under many schedules; or under one, recorded if that is asked for.
#[doc(hidden)]
pub fn explore_test(
    package: &str,
    name: &str,
    schedules: usize,
    strategy: &str,
    seed: u64,
    body: impl Fn(),
) {
    let explorer = Explorer::new().schedules(schedules).seed(seed);
    let depth = strategy.strip_prefix("pct:").and_then(|depth| depth.parse().ok());
    let explorer = match (strategy, depth) {
        ("random", _) => explorer,
        ("exhaustive", _) => explorer.exhaustive(),
        (_, Some(depth)) => explorer.pct(depth),
        _ => panic!("`{strategy}` is no strategy: write `random`, `pct:DEPTH` or `exhaustive`"),
    };
    if is_replay() {
        let _session = TestSession::start(package, name);
        return body();
    }
    match seed_of_environment() {
        Some(seed) => {
            let session = TestSession::start(package, name);
            let result = explorer.replay(&seed, body);
            drop(session);
            settle(result);
        }
        None => settle(explorer.check(body)),
    }
}

fn settle(result: Result<Summary, Box<Failed>>) {
    match result {
        Ok(summary) => {
            for lost in &summary.lost {
                eprintln!("racelog: {lost}");
            }
        }
        Err(failed) => fail(*failed),
    }
}

/// The seed that the environment asks for.
fn seed_of_environment() -> Option<Seed> {
    let text = std::env::var("RACELOG_SEED").ok()?;
    match text.parse() {
        Ok(seed) => Some(seed),
        Err(error) => panic!("RACELOG_SEED: {error}"),
    }
}

fn fail(mut failed: Failed) -> ! {
    match failed.payload.take() {
        // Whoever expects a panic expects the body's own.
        Some(payload) => {
            eprintln!("racelog: {failed}");
            panic::resume_unwind(payload)
        }
        None => panic!("{failed}"),
    }
}

/// A schedule that is being run. Should the process end meanwhile, its seed is printed.
pub(super) struct Running(u64);

/// The schedules that are being run, each with a number.
static RUNNING: Mutex<(u64, Vec<(u64, Seed)>)> = Mutex::new((0, Vec::new()));

impl Running {
    pub(super) fn new(seed: Seed) -> Self {
        static LISTENING: Once = Once::new();
        LISTENING.call_once(|| rt::at_exit(at_exit));
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.0 += 1;
        let number = running.0;
        running.1.push((number, seed));
        Self(number)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.1.retain(|(number, _)| *number != self.0);
    }
}

extern "C" fn at_exit() {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    for (_, seed) in &running.1 {
        eprintln!("racelog: the process ends within a schedule: RACELOG_SEED={seed}");
    }
}
