//! Deadlocks. What the threads find under their first lock decides whether they take the second.

use super::sync::{Mutex, RwLock};
use super::{both, keep_if, nap, thread};

pub(crate) fn accounts_in_both_orders(right: bool) {
    let accounts = [Mutex::new(5), Mutex::new(5)];
    let pay = |from: usize, to: usize| {
        let (first, second) = if right { (0, 1) } else { (from, to) };
        let mut one = accounts[first].lock().unwrap();
        nap();
        if *one > 0 {
            let mut other = accounts[second].lock().unwrap();
            *one += 1;
            *other -= 1;
        }
    };
    both(|| pay(0, 1), || pay(1, 0));
}

pub(crate) fn philosophers(right: bool) {
    let forks = [Mutex::new(0), Mutex::new(0), Mutex::new(0)];
    let eat = |at: usize| {
        let (one, other) = (at, (at + 1) % forks.len());
        let (first, second) = if right { (one.min(other), one.max(other)) } else { (one, other) };
        let mut meals = forks[first].lock().unwrap();
        nap();
        if *meals < 9 {
            *meals += 1;
            *forks[second].lock().unwrap() += 1;
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| eat(0));
        scope.spawn(|| both(|| eat(1), || eat(2)));
    });
}

pub(crate) fn settings_and_log(right: bool) {
    let (settings, log) = (RwLock::new(1), Mutex::new(Vec::new()));
    let serve = || {
        let level = settings.read().unwrap();
        nap();
        if *level > 0 {
            log.lock().unwrap().push("served");
        }
    };
    let change = || {
        let lines = log.lock().unwrap();
        let is_busy = lines.len() < 9;
        let kept = keep_if(!right, lines);
        nap();
        if is_busy {
            *settings.write().unwrap() += 1;
        }
        drop(kept);
    };
    both(serve, change);
}

pub(crate) fn parent_and_child(right: bool) {
    let (parent, child) = (Mutex::new(vec![1]), Mutex::new(1));
    let sum_up = || {
        let parts = parent.lock().unwrap();
        nap();
        if !parts.is_empty() {
            assert!(*child.lock().unwrap() > 0);
        }
    };
    let grow = || {
        let mut size = child.lock().unwrap();
        *size += 1;
        let new = *size;
        let kept = keep_if(!right, size);
        nap();
        if new > 1 {
            parent.lock().unwrap().push(new);
        }
        drop(kept);
    };
    both(sum_up, grow);
}
