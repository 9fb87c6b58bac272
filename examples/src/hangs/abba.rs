//! Two locks that two threads take in opposite orders.
//!
//! - `abba`: if each has its first lock, neither gets its second.
//! - `abba_ordered`: both keep to one order. Right.
//! - `abba_gate`: a third lock around both. Right.
//! - `abba_join`: the second thread starts when the first has ended. Right.
//! - `abba_branch`: the second thread goes on only if it sees that the first is done. Right.
//! - `abba_try`: the second thread does not wait for its second lock. Right.
//! - `abba_data`: as `abba`, but each thread reads what the locks guard. As wrong, and not provable
//!   from one run: the second thread has read what the first left behind, and whatever it does
//!   after that may be because of it.

use racelog::sync::Mutex;
use racelog::sync::atomic::{AtomicBool, Ordering};
use racelog::thread;

use crate::turns::Turns;
use crate::{Goal, GoalKind, Origin, Program, Size, Source};

/// What is said of it.
pub static PLAIN: Program = Program {
    name: "abba",
    about: "two threads take two locks in opposite orders",
    origin: Origin::Hangs,
    source: Source { file: file!(), text: include_str!("abba.rs") },
    run: |_| run(Kept::Not),
    small: Size::new(2, 1),
    large: Size::new(2, 1),
    races: &[],
    goals: &[Goal::new(
        GoalKind::Deadlock,
        &["forth-second", "back-second"],
        "each has the lock that the other wants",
    )],
    schedule: "random:1",
    hangs: Some("each has the lock that the other wants"),
};

/// What is said of the right variant.
pub static ORDERED: Program = Program {
    name: "abba_ordered",
    about: "as `abba`, with one order that both keep to",
    run: |_| run(Kept::Ordered),
    goals: &[],
    hangs: None,
    ..PLAIN
};

/// What is said of the variant with a third lock.
pub static GATE: Program = Program {
    name: "abba_gate",
    about: "as `abba`, under a third lock that both take first",
    run: |_| run(Kept::ByGate),
    ..ORDERED
};

/// What is said of the variant in which one thread waits for the other.
pub static JOIN: Program = Program {
    name: "abba_join",
    about: "as `abba`, but one thread has ended before the other begins",
    run: |_| run_joined(),
    ..ORDERED
};

/// What is said of the variant with a flag.
pub static BRANCH: Program = Program {
    name: "abba_branch",
    about: "as `abba`, but the second thread goes on only if the first says that it is done",
    run: |_| run(Kept::ByBranch),
    ..ORDERED
};

/// What is said of the variant that tries.
pub static TRY: Program = Program {
    name: "abba_try",
    about: "as `abba`, but the second thread does without its second lock if it is taken",
    run: |_| run(Kept::ByTry),
    ..ORDERED
};

/// What is said of the variant with data.
pub static DATA: Program = Program {
    name: "abba_data",
    about: "as `abba`, with threads that read what the locks guard",
    run: |_| run_with_data(),
    goals: &[Goal::new(
        GoalKind::Deadlock,
        &["data-forth-second", "data-back-second"],
        "each has the lock that the other wants",
    )
    .unproven("the second thread has read under its first lock what the first thread left there")],
    ..PLAIN
};

/// What keeps the two threads apart.
#[derive(Clone, Copy, PartialEq)]
enum Kept {
    Not,
    Ordered,
    ByGate,
    ByBranch,
    ByTry,
}

#[derive(Default)]
struct Locks {
    gate: Mutex<()>,
    a: Mutex<()>,
    b: Mutex<()>,
    is_done: AtomicBool,
}

impl Locks {
    fn forth(&self) {
        let _a = self.a.lock().unwrap();
        let _b = self.b.lock().unwrap(); // [forth-second]
    }

    fn back(&self) {
        let _b = self.b.lock().unwrap();
        let _a = self.a.lock().unwrap(); // [back-second]
    }

    fn back_if_free(&self) {
        let _b = self.b.lock().unwrap();
        drop(self.a.try_lock());
    }
}

fn run(kept: Kept) {
    let (locks, turns) = (Locks::default(), Turns::new());
    let gate = || (kept == Kept::ByGate).then(|| locks.gate.lock().unwrap());
    thread::scope(|scope| {
        scope.spawn(|| {
            let gate = gate();
            locks.forth();
            drop(gate);
            if kept == Kept::ByBranch {
                locks.is_done.store(true, Ordering::Release);
            }
            turns.over();
        });
        scope.spawn(|| {
            turns.after(1);
            let _gate = gate();
            match kept {
                Kept::Not | Kept::ByGate => locks.back(),
                Kept::Ordered => locks.forth(),
                Kept::ByTry => locks.back_if_free(),
                Kept::ByBranch => {
                    if locks.is_done.load(Ordering::Acquire) {
                        locks.back();
                    }
                }
            }
        });
    });
}

fn run_joined() {
    let locks = Locks::default();
    thread::scope(|scope| {
        scope.spawn(|| locks.forth()).join().unwrap();
        scope.spawn(|| locks.back());
    });
}

fn run_with_data() {
    let (a, b, turns) = (Mutex::new(0), Mutex::new(0), Turns::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut a = a.lock().unwrap();
            *a += 1;
            let mut b = b.lock().unwrap(); // [data-forth-second]
            *b += *a;
            drop((a, b));
            turns.over();
        });
        scope.spawn(|| {
            turns.after(1);
            let mut b = b.lock().unwrap();
            *b += 1;
            let mut a = a.lock().unwrap(); // [data-back-second]
            *a += *b;
        });
    });
}
