//! A connection that is opened by whoever needs it while it is closed, and closed again.
//!
//! Bug: in `double_init` a thread looks at a flag, and sets it when it has opened the connection.
//! Two may find it closed, and then it is opened twice. In `double_init_fixed` who exchanges the
//! flag opens it.

use racelog::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use racelog::thread;

use crate::turns::Turns;
use crate::{Goal, GoalKind, Origin, Program, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "double_init",
    about: "a flag is looked at, and set when a connection was opened",
    origin: Origin::Steps,
    source: Source { file: file!(), text: include_str!("double_init.rs") },
    run: |_| run(use_in_steps),
    small: Size::new(2, 1),
    large: Size::new(2, 1),
    races: &[],
    goals: &[
        Goal::new(GoalKind::FailedCheck, &["only-one"], "both find the connection closed"),
        Goal::new(
            GoalKind::InferredAtomicity,
            &["set"],
            "the other opens it after it was found closed",
        ),
        Goal::new(
            GoalKind::InferredAtomicity,
            &["unset"],
            "the other has opened it by the time it is closed",
        ),
    ],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "double_init_fixed",
    about: "as `double_init`, but the flag is exchanged",
    run: |_| run(use_it),
    goals: &[],
    ..PROGRAM
};

struct Connection {
    is_open: AtomicBool,
    open: AtomicU32,
}

#[racelog::instrument]
fn use_in_steps(connection: &Connection) {
    if !connection.is_open.load(Ordering::SeqCst) {
        let others = connection.open.fetch_add(1, Ordering::SeqCst);
        assert!(others == 0, "opened twice"); // [only-one]
        connection.is_open.store(true, Ordering::SeqCst); // [set]
        connection.open.fetch_sub(1, Ordering::SeqCst);
        connection.is_open.store(false, Ordering::SeqCst); // [unset]
    }
}

#[racelog::instrument]
fn use_it(connection: &Connection) {
    if !connection.is_open.swap(true, Ordering::SeqCst) {
        let others = connection.open.fetch_add(1, Ordering::SeqCst);
        assert!(others == 0, "opened twice");
        connection.open.fetch_sub(1, Ordering::SeqCst);
        connection.is_open.store(false, Ordering::SeqCst);
    }
}

#[racelog::instrument]
fn run(use_it: fn(&Connection)) {
    let connection = Connection { is_open: AtomicBool::new(false), open: AtomicU32::new(0) };
    let turns = Turns::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            use_it(&connection);
            turns.over();
        });
        scope.spawn(|| {
            turns.after(1);
            use_it(&connection);
        });
    });
}
