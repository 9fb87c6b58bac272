//! Molecules that attract each other, on a line, in steps of time.
//!
//! In each step every thread adds up the forces of its share of pairs in an array of its own;
//! thread 0 sums the arrays; every thread moves its share of molecules. A barrier stands between.
//!
//! - `moldyn`: with std's barrier. Race-free.
//! - `moldyn_tournament`: with the benchmark's own barrier, on flags with `Acquire` and `Release`.
//!   Race-free.
//! - `moldyn_relaxed`: the same with `Relaxed` flags. Threads still wait for each other, but by the
//!   memory model all that is shared races; no schedule shows it.
//!
//! Work: molecules, for two steps.

use racelog::cell::Shared;
use racelog::sync::Barrier;
use racelog::thread;

use super::tournament::Tournament;
use crate::{Harm, Origin, Program, Race, Size, Source};

/// Steps of time.
const STEPS: usize = 2;

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "moldyn",
    about: "forces and moves in phases that a barrier separates: race-free",
    origin: Origin::JavaGrande,
    source: Source { file: file!(), text: include_str!("moldyn.rs") },
    run: |size| {
        let barrier = Barrier::new(size.threads);
        run(size, &|_, _| _ = barrier.wait());
    },
    small: Size::new(2, 2),
    large: Size::new(4, 1_700),
    races: &[],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of the variant with a barrier of its own.
pub static TOURNAMENT: Program = Program {
    name: "moldyn_tournament",
    about: "as `moldyn`, with a barrier of atomic flags that are released and acquired: race-free",
    run: |size| {
        let barrier = Tournament::new(size.threads);
        run(size, &|me, sense| barrier.wait(me, sense));
    },
    ..PROGRAM
};

/// What is said of the variant with a barrier that orders nothing.
pub static RELAXED: Program = Program {
    name: "moldyn_relaxed",
    about: "as `moldyn_tournament`, with relaxed flags: all that the barrier should order races",
    run: |size| {
        let barrier = Tournament::relaxed(size.threads);
        run(size, &|me, sense| barrier.wait(me, sense));
    },
    races: &[
        Race::new("part-write", "part-read", Harm::StaleRead, "a force may not be there yet")
            .weak(),
        Race::new("total-write", "total-read", Harm::StaleRead, "the last step's may be seen")
            .weak(),
        Race::new("move", "position-read", Harm::StaleRead, "some may not have moved yet").weak(),
    ],
    ..PROGRAM
};

/// What all threads share.
struct World {
    positions: Vec<Shared<f64>>,
    /// For each thread, the forces that it has found.
    parts: Vec<Vec<Shared<f64>>>,
    total: Vec<Shared<f64>>,
}

/// Waits for all threads; is told who asks, and what the barrier has to remember for it.
type Wait<'a> = &'a (dyn Fn(usize, &mut bool) + Sync);

fn run(size: &Size, wait: Wait<'_>) {
    let zeros = || (0..size.work).map(|_| Shared::new(0.0)).collect();
    let place = |molecule: usize| Shared::new(molecule as f64);
    let world = World {
        positions: (0..size.work).map(place).collect(),
        parts: (0..size.threads).map(|_| zeros()).collect(),
        total: zeros(),
    };
    thread::scope(|scope| {
        for me in 0..size.threads {
            let world = &world;
            scope.spawn(move || {
                let mut sense = false;
                for _ in 0..STEPS {
                    add_up(world, me);
                    wait(me, &mut sense);
                    if me == 0 {
                        sum(world);
                    }
                    wait(me, &mut sense);
                    advance(world, me);
                    wait(me, &mut sense);
                }
            });
        }
    });
    let centre: f64 = world.positions.iter().map(Shared::get).sum();
    let before = (0..size.work).sum::<usize>() as f64;
    // What one does to another the other does to it.
    racelog::check!((centre - before).abs() < 1e-6, "the centre has not moved");
}

/// The forces between a thread's share of molecules and all that come after them.
#[racelog::instrument]
fn add_up(world: &World, me: usize) {
    let threads = world.parts.len();
    let mut forces = vec![0.0; world.positions.len()];
    for one in (me..forces.len()).step_by(threads) {
        for other in one + 1..forces.len() {
            let force = force(world, one, other);
            forces[one] += force;
            forces[other] -= force;
        }
    }
    for (part, force) in world.parts[me].iter().zip(forces) {
        part.set(force); // [part-write]
    }
}

#[racelog::instrument]
fn force(world: &World, one: usize, other: usize) -> f64 {
    let places = [one, other].map(|molecule| {
        world.positions[molecule].get() // [position-read]
    });
    let distance = places[1] - places[0];
    distance / (1.0 + distance.abs().powi(3))
}

#[racelog::instrument]
fn sum(world: &World) {
    for (molecule, total) in world.total.iter().enumerate() {
        let mut sum = 0.0;
        for part in &world.parts {
            sum += part[molecule].get(); // [part-read]
        }
        total.set(sum); // [total-write]
    }
}

#[racelog::instrument]
fn advance(world: &World, me: usize) {
    for molecule in (me..world.positions.len()).step_by(world.parts.len()) {
        let force = world.total[molecule].get(); // [total-read]
        let moved = world.positions[molecule].get() + 0.01 * force;
        world.positions[molecule].set(moved); // [move]
    }
}
