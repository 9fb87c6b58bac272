//! How tests come to explore: `explore`, and what `#[racelog::test(schedules = …)]` calls.

use std::panic;

use super::explorer::{Explorer, Failed, Summary};
use crate::contract::environment::Variable;
use crate::contract::seed::Seed;
use crate::sched::process::is_replay;
use crate::sched::test_session::TestSession;

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
    let text = std::env::var(Variable::Seed).ok()?;
    match text.parse() {
        Ok(seed) => Some(seed),
        Err(error) => panic!("{}: {error}", Variable::Seed),
    }
}

fn fail(mut failed: Failed) -> ! {
    match failed.payload.take() {
        // A test that expects a panic expects the body's own.
        Some(payload) => {
            eprintln!("racelog: {failed}");
            panic::resume_unwind(payload)
        }
        None => panic!("{failed}"),
    }
}
