//! What comes about where threads are held back, and prediction does not prove: a value decides.

use super::*;

/// Two threads take two locks in both orders, the second one by what the first one guards.
fn transfer(ordered: bool) {
    let accounts = [Mutex::new(5), Mutex::new(5)];
    let pay = |from: usize, to: usize| {
        let (first, second) = if ordered { (0, 1) } else { (from, to) };
        let mut one = accounts[first].lock().unwrap();
        if *one > 0 {
            let mut other = accounts[second].lock().unwrap();
            *one += 1;
            *other -= 1;
        }
    };
    late(|| pay(0, 1), || pay(1, 0));
}

/// A thread waits for a notification that the other gives, after a sleep; of a flag, or of nothing.
fn wait_for(flag: bool) {
    let (ready, more) = (Mutex::new(false), Condvar::new());
    late(
        || {
            let mut is_ready = ready.lock().unwrap();
            // Without a flag it waits just once.
            while !(flag && *is_ready) {
                is_ready = more.wait(is_ready).unwrap();
                if !flag {
                    break;
                }
            }
        },
        || {
            *ready.lock().unwrap() = true;
            more.notify_one();
        },
    );
}

/// Two threads add one to a sum, by one operation or two.
fn add(atomically: bool) {
    let sum = AtomicU32::new(0);
    let add = || match atomically {
        true => drop(sum.fetch_add(1, Ordering::SeqCst)),
        false => sum.store(sum.load(Ordering::SeqCst) + 1, Ordering::SeqCst),
    };
    late(add, add);
    assert_eq!(sum.load(Ordering::SeqCst), 2, "no update is lost");
}

#[racelog::test]
fn accounts_in_both_orders() {
    transfer(false);
}

#[racelog::test]
fn accounts_in_one_order() {
    transfer(true);
}

#[racelog::test]
fn notification_of_nothing() {
    wait_for(false);
}

#[racelog::test]
fn notification_of_a_flag() {
    wait_for(true);
}

#[racelog::test]
fn sum_in_two_steps() {
    add(false);
}

#[racelog::test]
fn sum_in_one_step() {
    add(true);
}
