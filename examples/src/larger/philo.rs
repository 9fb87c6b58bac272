//! Philosophers at a round table, who need the forks on both sides to eat.
//!
//! The table is a monitor: who finds one of its two forks taken waits, and who puts forks back
//! wakes one who waits.
//!
//! Bugs: no race. But the one who is woken may be one whose forks are still taken. It waits again,
//! and one who could eat, if there are four or more at the table, sleeps on until another has
//! eaten. That costs time and no more: the neighbour who has the fork will put it back. In
//! `philo_fixed` all are woken.
//!
//! Threads: philosophers, at least two. Work: meals of each.

use racelog::sync::{Condvar, Mutex};
use racelog::thread;

use crate::{Origin, Program, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "philo",
    about: "philosophers wake one who waits, perhaps the wrong one: slow, but race-free",
    origin: Origin::Larger,
    source: Source { file: file!(), text: include_str!("philo.rs") },
    run: |size| run(size, Condvar::notify_one),
    small: Size::new(4, 1),
    large: Size::new(8, 100_000),
    races: &[],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "philo_fixed",
    about: "as `philo`, but all are woken",
    run: |size| run(size, Condvar::notify_all),
    ..PROGRAM
};

struct Table {
    /// For each fork, whether it lies on the table.
    forks: Mutex<Vec<bool>>,
    changed: Condvar,
    wake: fn(&Condvar),
}

fn run(size: &Size, wake: fn(&Condvar)) {
    let forks = Mutex::new(vec![true; size.threads]);
    let table = Table { forks, changed: Condvar::new(), wake };
    thread::scope(|scope| {
        for me in 0..size.threads {
            let table = &table;
            scope.spawn(move || {
                for _ in 0..size.work {
                    table.take(me);
                    table.put_back(me);
                }
            });
        }
    });
    let forks = table.forks.into_inner().unwrap();
    racelog::check!(forks.iter().all(|fork| *fork), "all forks are back");
}

impl Table {
    fn take(&self, me: usize) {
        let mut forks = self.forks.lock().unwrap();
        let next = (me + 1) % forks.len();
        while !(forks[me] && forks[next]) {
            forks = self.changed.wait(forks).unwrap();
        }
        forks[me] = false;
        forks[next] = false;
    }

    fn put_back(&self, me: usize) {
        let mut forks = self.forks.lock().unwrap();
        let next = (me + 1) % forks.len();
        forks[me] = true;
        forks[next] = true;
        (self.wake)(&self.changed);
    }
}
