//! Lost updates: what one thread writes goes by what it read before another one wrote.

use std::collections::HashMap;

use super::sync::atomic::{AtomicU32, Ordering};
use super::sync::{Mutex, RwLock};
use super::{both, nap};

pub(crate) fn sum_behind_a_mutex(right: bool) {
    let sum = Mutex::new(0);
    let add = || {
        if right {
            *sum.lock().unwrap() += 1;
            return;
        }
        let found = *sum.lock().unwrap();
        nap();
        *sum.lock().unwrap() = found + 1;
    };
    both(add, add);
    assert_eq!(*sum.lock().unwrap(), 2, "an update is lost");
}

pub(crate) fn sum_that_is_atomic(right: bool) {
    let sum = AtomicU32::new(0);
    let add = || {
        if right {
            sum.fetch_add(1, Ordering::SeqCst);
            return;
        }
        let found = sum.load(Ordering::SeqCst);
        nap();
        sum.store(found + 1, Ordering::SeqCst);
    };
    both(add, add);
    assert_eq!(sum.load(Ordering::SeqCst), 2, "an update is lost");
}

pub(crate) fn level_behind_a_rwlock(right: bool) {
    let level = RwLock::new(10);
    let change = |by: i32| {
        if right {
            *level.write().unwrap() += by;
            return;
        }
        let found = *level.read().unwrap();
        nap();
        *level.write().unwrap() = found + by;
    };
    both(|| change(5), || change(-5));
    assert_eq!(*level.read().unwrap(), 10, "an update is lost");
}

pub(crate) fn counts_of_words(right: bool) {
    let counts = Mutex::new(HashMap::new());
    let count = |text: &'static str| {
        for word in text.split(' ') {
            if right {
                *counts.lock().unwrap().entry(word).or_insert(0) += 1;
                continue;
            }
            let known = counts.lock().unwrap().get(word).copied().unwrap_or(0);
            nap();
            counts.lock().unwrap().insert(word, known + 1);
        }
    };
    both(|| count("to be or not"), || count("not to be"));
    assert_eq!(counts.lock().unwrap().values().sum::<i32>(), 7, "a word is not counted");
}

pub(crate) fn numbers_of_tickets(right: bool) {
    let tickets = Mutex::new(Vec::new());
    let sell = || {
        if right {
            let mut tickets = tickets.lock().unwrap();
            let number = tickets.len();
            tickets.push(number);
            return;
        }
        let number = tickets.lock().unwrap().len();
        nap();
        tickets.lock().unwrap().push(number);
    };
    both(sell, sell);
    let mut sold = tickets.lock().unwrap().clone();
    sold.sort_unstable();
    assert_eq!(sold, [0, 1], "a number is sold twice");
}
