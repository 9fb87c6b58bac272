//! Lifts serve floors at which people have pressed the button.
//!
//! Each floor has a lock of its own. A lift claims a floor under its lock, if people wait there and
//! no other lift is on its way, and serves it later under the same lock.
//!
//! No bugs: a true negative with many locks, each of which guards its own data.
//!
//! Threads: lifts. Work: floors; the buttons are pressed twice on each.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Origin, Program, Size, Source};

/// How often the buttons of all floors are pressed.
const PRESSES: usize = 2;

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "elevator",
    about: "lifts claim floors, each of which has a lock of its own: race-free",
    origin: Origin::Larger,
    source: Source { file: file!(), text: include_str!("elevator.rs") },
    run,
    small: Size::new(2, 2),
    large: Size::new(4, 160_000),
    races: &[],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

#[derive(Default)]
struct Floor {
    lock: Mutex<()>,
    waiting: Shared<usize>,
    is_claimed: Shared<bool>,
    served: Shared<usize>,
}

fn run(size: &Size) {
    let floors: Vec<Floor> = (0..size.work).map(|_| Floor::default()).collect();
    thread::scope(|scope| {
        scope.spawn(|| (0..PRESSES).for_each(|_| floors.iter().for_each(press)));
        for me in 0..size.threads {
            let floors = &floors;
            scope.spawn(move || {
                for turn in 0..PRESSES * floors.len() {
                    let floor = &floors[(turn + me) % floors.len()];
                    if claim(floor) {
                        serve(floor);
                    }
                }
            });
        }
    });
    let left: usize = floors.iter().map(|floor| floor.waiting.get() + floor.served.get()).sum();
    racelog::check!(left == PRESSES * size.work, "nobody is forgotten");
}

#[racelog::instrument]
fn press(floor: &Floor) {
    let _guard = floor.lock.lock().unwrap();
    let waiting = floor.waiting.get();
    floor.waiting.set(waiting + 1);
}

#[racelog::instrument]
fn claim(floor: &Floor) -> bool {
    let _guard = floor.lock.lock().unwrap();
    let is_free = floor.waiting.get() > 0 && !floor.is_claimed.get();
    if is_free {
        floor.is_claimed.set(true);
    }
    is_free
}

#[racelog::instrument]
fn serve(floor: &Floor) {
    let _guard = floor.lock.lock().unwrap();
    let (waiting, served) = (floor.waiting.get(), floor.served.get());
    floor.waiting.set(0);
    floor.served.set(served + waiting);
    floor.is_claimed.set(false);
}
