//! The dining philosophers: each takes the fork on its left, and then the one on its right.
//!
//! If all have taken the left one, nobody gets the right one. In `dining_philosophers_fixed` the
//! last one begins on the right. (`philo` is another table: it has one lock, and philosophers who
//! wait for both forks at once.)
//!
//! Threads: philosophers, at least two.

use racelog::sync::Mutex;
use racelog::thread;

use crate::turns::Turns;
use crate::{Goal, GoalKind, Origin, Program, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "dining_philosophers",
    about: "every philosopher takes the left fork first",
    origin: Origin::Hangs,
    source: Source { file: file!(), text: include_str!("philosophers.rs") },
    run: |size| run(size, false),
    small: Size::new(3, 1),
    large: Size::new(8, 1),
    races: &[],
    goals: &[Goal::new(
        GoalKind::Deadlock,
        &["second-fork", "second-fork", "second-fork"],
        "all have one fork and wait for the next one's",
    )],
    schedule: "random:1",
    hangs: Some("all have one fork and wait for the next one's"),
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "dining_philosophers_fixed",
    about: "as `dining_philosophers`, but the last one takes the right fork first",
    run: |size| run(size, true),
    goals: &[],
    hangs: None,
    ..PROGRAM
};

fn run(size: &Size, is_last_left_handed: bool) {
    let count = size.threads.max(2);
    let forks: Vec<Mutex<()>> = (0..count).map(|_| Mutex::new(())).collect();
    let turns = Turns::new();
    thread::scope(|scope| {
        for me in 0..count {
            let (forks, turns) = (&forks, &turns);
            let (left, right) = (me, (me + 1) % count);
            let is_left_handed = is_last_left_handed && me + 1 == count;
            let order = if is_left_handed { [right, left] } else { [left, right] };
            scope.spawn(move || {
                turns.after(me);
                eat(forks, order);
                turns.over();
            });
        }
    });
}

fn eat(forks: &[Mutex<()>], order: [usize; 2]) {
    let _first = forks[order[0]].lock().unwrap();
    let _second = forks[order[1]].lock().unwrap(); // [second-fork]
}
