//! Threads go round a barrier, and hand on what they have to their neighbour each time.
//!
//! Each writes its own place, waits for all, reads the neighbour's, and waits for all again.
//!
//! `barrier_bench_once` forgets the second barrier: the fast write their places for the next round
//! while the slow still read them for this one.
//!
//! Work: rounds.

use racelog::cell::Shared;
use racelog::sync::Barrier;
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "barrier_bench",
    about: "values go round between two barriers: race-free",
    origin: Origin::JavaGrande,
    source: Source { file: file!(), text: include_str!("barrier_bench.rs") },
    run: |size| run(size, true),
    small: Size::new(2, 2),
    large: Size::new(4, 100_000),
    races: &[],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of the variant that has one barrier too few.
pub static ONCE: Program = Program {
    name: "barrier_bench_once",
    about: "as `barrier_bench`, without the second barrier of each round",
    run: |size| run(size, false),
    races: &[Race::new("write", "read", Harm::StaleRead, "the next round's value is read")],
    ..PROGRAM
};

fn run(size: &Size, is_twice: bool) {
    let places: Vec<Shared<usize>> = (0..size.threads).map(|_| Shared::new(0)).collect();
    let barrier = Barrier::new(size.threads);
    let go_round = |me| go_round(&places, &barrier, me, size.work, is_twice);
    let wrong: usize = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..size.threads).map(|me| scope.spawn(move || go_round(me))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    racelog::check!(wrong == 0, "each reads what was written in the same round");
}

/// Gives how often the neighbour was in another round.
#[racelog::instrument]
fn go_round(
    places: &[Shared<usize>],
    barrier: &Barrier,
    me: usize,
    rounds: usize,
    is_twice: bool,
) -> usize {
    let mut wrong = 0;
    let neighbour = (me + 1) % places.len();
    for round in 0..rounds {
        places[me].set(round); // [write]
        barrier.wait();
        let found = places[neighbour].get(); // [read]
        if found != round {
            wrong += 1;
        }
        if is_twice {
            barrier.wait();
        }
    }
    wrong
}
