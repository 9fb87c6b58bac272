//! The two figures of Sen, "Race Directed Random Testing of Concurrent Programs" (PLDI 2008).

use std::sync::atomic::{AtomicUsize, Ordering};

use racelog::cell::Shared;
use racelog::sched::{Explorer, SourcePlace};
use racelog::sync::Mutex;
use racelog::thread;

/// A statement of a figure: the line that is marked as such below.
fn statement(figure: u32, number: u32) -> SourcePlace {
    let mark = format!("// Figure {figure}, statement {number}.");
    let line = include_str!("figures.rs").lines().position(|line| line.ends_with(&mark));
    let line = line.unwrap_or_else(|| panic!("`{mark}` is nowhere")) + 1;
    SourcePlace::new(file!(), u32::try_from(line).unwrap())
}

/// How often the errors were reached.
#[derive(Default)]
struct Errors([AtomicUsize; 2]);

impl Errors {
    fn reach(&self, error: usize) {
        self.0[error - 1].fetch_add(1, Ordering::Relaxed);
    }

    fn take(&self) -> [usize; 2] {
        [0, 1].map(|error| self.0[error].swap(0, Ordering::Relaxed))
    }
}

/// Statements 5 and 7 race for z; 1 and 10 only seem to race for x.
fn figure_1(errors: &Errors) {
    let [x, y, z] = [const { Shared::new(0) }; 3];
    let lock = Mutex::new(());
    thread::scope(|scope| {
        scope.spawn(|| {
            x.set(1); // Figure 1, statement 1.
            let guard = lock.lock().unwrap();
            y.set(1);
            drop(guard);
            let z = z.get(); // Figure 1, statement 5.
            if z == 1 {
                errors.reach(1);
            }
        });
        scope.spawn(|| {
            z.set(1); // Figure 1, statement 7.
            let _guard = lock.lock().unwrap();
            if y.get() == 1 {
                let x = x.get(); // Figure 1, statement 10.
                if x != 1 {
                    errors.reach(2);
                }
            }
        });
    });
}

#[test]
fn figure_1_has_one_real_race() {
    const RUNS: usize = 400;
    let errors = Errors::default();
    let directed = |first, second| {
        let pair = (statement(1, first), statement(1, second));
        let explorer = Explorer::new().schedules(RUNS).race_directed([pair]);
        let summary = explorer.check(|| figure_1(&errors)).unwrap();
        let hit: usize = summary.real_races.iter().map(|(_, runs)| runs).sum();
        (hit, errors.take())
    };
    let (hit, [error_1, error_2]) = directed(5, 7);
    assert_eq!((hit, error_2), (RUNS, 0));
    assert!((RUNS * 4 / 10..RUNS * 6 / 10).contains(&error_1), "{error_1} of {RUNS}");
    let (hit, [_, error_2]) = directed(1, 10);
    assert_eq!((hit, error_2), (0, 0));
}

/// Statements 8 and 10 race for x, and so many statements stand before statement 8. The thread with
/// statement 10 is spawned first, so that what is natural is that 10 comes long before 8.
fn figure_2(statements: usize, errors: &Errors) {
    let (x, other) = (Shared::new(0), Shared::new(0));
    let lock = Mutex::new(());
    thread::scope(|scope| {
        scope.spawn(|| {
            x.set(1); // Figure 2, statement 10.
            let _guard = lock.lock().unwrap();
            other.set(0);
        });
        scope.spawn(|| {
            let guard = lock.lock().unwrap();
            (0..statements).for_each(|number| other.set(number));
            drop(guard);
            let x = x.get(); // Figure 2, statement 8.
            if x == 0 {
                errors.reach(1);
            }
        });
    });
}

#[test]
fn figure_2_is_hit_in_every_run_however_far_apart_its_statements_are() {
    let errors = Errors::default();
    for (statements, runs) in [(10, 400), (1_000, 400), (100_000, 100)] {
        let body = || figure_2(statements, &errors);
        let pair = (statement(2, 8), statement(2, 10));
        let summary = Explorer::new().schedules(runs).race_directed([pair]).check(body).unwrap();
        let hit: usize = summary.real_races.iter().map(|(_, runs)| runs).sum();
        assert_eq!(hit, runs, "{statements} statements");
        let share = errors.take()[0] as f64 / runs as f64;
        assert!((0.4..=0.6).contains(&share), "{statements} statements: {share}");

        // Beside it: plain runs, where the system decides, and a random walk.
        (0..20).for_each(|_| body());
        let plain = errors.take()[0];
        let runs = if statements > 1_000 { 5 } else { 100 };
        Explorer::new().schedules(runs).check(body).unwrap();
        let walked = errors.take()[0];
        println!(
            "{statements} statements: error in {share:.2} of the directed runs, {plain} of 20 plain ones, \
             {walked} of {runs} random walks"
        );
        assert!(statements == 10 || walked == 0, "{statements} statements: {walked} of {runs}");
    }
}
