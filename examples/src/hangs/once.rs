//! A value that is made once, under a lock.
//!
//! The thread that asks first makes it, and takes the lock for that. Another asks for it under the
//! lock. If the first has begun, and the other has the lock, the one waits for the lock and the
//! other for the value. In `once_fixed` the second asks before it takes the lock.

use racelog::sync::{Mutex, OnceLock};
use racelog::thread;

use crate::turns::Turns;
use crate::{Goal, GoalKind, Origin, Program, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "once",
    about: "a value is made under a lock, and asked for by one that has the lock",
    origin: Origin::Hangs,
    source: Source { file: file!(), text: include_str!("once.rs") },
    run: |_| run(true),
    small: Size::new(2, 1),
    large: Size::new(2, 1),
    races: &[],
    goals: &[Goal::new(
        GoalKind::Deadlock,
        &["make", "ask-under-lock"],
        "one makes the value and waits for the lock, the other has the lock and waits for the value",
    )],
    schedule: "random:1",
    hangs: Some("one makes the value and waits for the lock, which the other has"),
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "once_fixed",
    about: "as `once`, but the value is asked for before the lock is taken",
    run: |_| run(false),
    goals: &[],
    hangs: None,
    ..PROGRAM
};

struct Settings {
    file: Mutex<()>,
    value: OnceLock<u32>,
}

impl Settings {
    fn make(&self) -> u32 {
        let _file = self.file.lock().unwrap(); // [make]
        7
    }
}

fn run(under_lock: bool) {
    let settings = Settings { file: Mutex::new(()), value: OnceLock::new() };
    let turns = Turns::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            settings.value.get_or_init(|| settings.make());
            turns.over();
        });
        scope.spawn(|| {
            turns.after(1);
            if under_lock {
                let _file = settings.file.lock().unwrap();
                settings.value.get_or_init(|| 7); // [ask-under-lock]
            } else {
                settings.value.get_or_init(|| settings.make());
                drop(settings.file.lock().unwrap());
            }
        });
    });
}
