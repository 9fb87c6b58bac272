//! Two threads take turns by a variable that nobody guards.
//!
//! Each says that it is its own turn, enters, and gives the turn away when it leaves. Each holds a
//! lock all the time, but its own.
//!
//! Bugs: all accesses of `turn` by one thread race with those of the other, and both may be in the
//! critical section at the same time. A thread may find that the turn never comes back, so it gives
//! up after a few looks.
//!
//! Work: rounds of each thread. There are always two threads.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// How often a thread looks whether it is its turn.
const PATIENCE: usize = 3;

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "critical",
    about: "two threads take turns by a variable that each guards with a lock of its own",
    origin: Origin::ConTest,
    source: Source { file: file!(), text: include_str!("critical.rs") },
    run,
    small: Size::new(2, 1),
    large: Size::new(2, 1_000_000),
    races: &[
        Race::new("claim", "claim", Harm::LostUpdate, "both say that it is their turn"),
        Race::new("claim", "look", Harm::StaleRead, "the turn is taken while the other looks"),
        Race::new("claim", "leave", Harm::LostUpdate, "a turn that is given is taken back"),
        Race::new("look", "leave", Harm::StaleRead, "the other leaves while one looks"),
        Race::new("leave", "leave", Harm::LostUpdate, "both give the turn away"),
    ],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

fn run(size: &Size) {
    let turn = Shared::new(0);
    thread::scope(|scope| {
        for me in 0..2 {
            let turn = &turn;
            // The mistake: the other thread has another lock.
            scope.spawn(move || take_turns(turn, &Mutex::new(()), me, size.work));
        }
    });
}

#[racelog::instrument]
fn take_turns(turn: &Shared<usize>, lock: &Mutex<()>, me: usize, rounds: usize) {
    for _ in 0..rounds {
        let _guard = lock.lock().unwrap();
        turn.set(me); // [claim]
        for _ in 0..PATIENCE {
            let whose = turn.get(); // [look]
            if whose == me {
                break;
            }
            thread::yield_now();
        }
        // The critical section would be here.
        turn.set(1 - me); // [leave]
    }
}
