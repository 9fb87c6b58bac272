//! A player is taken from the table and put back, by many at once.
//!
//! Each thread looks at the player, takes it away and puts it back, without any lock.
//!
//! Bugs: all three accesses race with those of others, and who looks just when the player is away
//! finds nobody: in the original, a null dereference.
//!
//! Work: rounds of each thread.

use racelog::cell::Shared;
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// There is no player.
const NOBODY: u32 = 0;

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "pingpong",
    about: "a shared reference is taken away and put back while others look at it",
    origin: Origin::ConTest,
    source: Source { file: file!(), text: include_str!("pingpong.rs") },
    run,
    small: Size::new(2, 1),
    large: Size::new(8, 500_000),
    races: &[
        Race::new("look", "take", Harm::Crash, "who looks next finds nobody"),
        Race::new("look", "put-back", Harm::Crash, "nobody may be there yet"),
        Race::new("take", "take", Harm::Benign, "both take away the same player"),
        Race::new("take", "put-back", Harm::Crash, "a player that is back is taken by mistake"),
        Race::new("put-back", "put-back", Harm::LostUpdate, "who found nobody puts nobody back"),
    ],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

fn run(size: &Size) {
    let player = Shared::new(7);
    let play = || play(&player, size.work);
    let missed: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..size.threads).map(|_| scope.spawn(play)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    racelog::check!(missed == 0, "the player was always there");
}

/// Gives how often nobody was there.
#[racelog::instrument]
fn play(player: &Shared<u32>, rounds: usize) -> usize {
    let mut missed = 0;
    for _ in 0..rounds {
        let seen = player.get(); // [look]
        player.set(NOBODY); // [take]
        player.set(seen); // [put-back]
        if seen == NOBODY {
            missed += 1;
        }
    }
    missed
}
