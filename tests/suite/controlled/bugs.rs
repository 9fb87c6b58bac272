//! Bugs of the usual kinds: each is found, each is found again by its seed, and none hangs.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use racelog::sched::{Explorer, Failed, Failure, Seed};
use racelog::sync::atomic::AtomicBool;
use racelog::sync::{Arc, Condvar, Mutex};
use racelog::thread;

/// Finds the bug by every strategy, and finds it again by the seed as it is printed.
fn find(explorer: &Explorer, body: fn()) -> Vec<Failed> {
    let strategies = [explorer.clone(), explorer.clone().pct(3), explorer.clone().exhaustive()];
    let find = |explorer: Explorer| {
        let failed = *explorer.check(body).expect_err("some schedule fails");
        let printed = failed.to_string();
        let (_, seed) = printed.rsplit_once("RACELOG_SEED=").expect("the seed is printed");
        let seed: Seed = seed.parse().expect("a seed that is printed can be read");
        for _ in 0..3 {
            let again = explorer.replay(&seed, body).expect_err("the seed repeats it");
            assert_eq!(again.failure, failed.failure, "{seed}");
        }
        failed
    };
    strategies.into_iter().map(find).collect()
}

/// The consumer looks at the flag before it takes the lock under which it waits.
fn lost_wake_up() {
    let state = Arc::new((Mutex::new(()), Condvar::new(), AtomicBool::new(false)));
    let producer = thread::spawn({
        let state = state.clone();
        move || {
            state.2.store(true, Ordering::SeqCst);
            state.1.notify_one();
        }
    });
    if !state.2.load(Ordering::SeqCst) {
        let guard = state.0.lock().unwrap();
        drop(state.1.wait(guard).unwrap());
    }
    producer.join().unwrap();
}

#[test]
fn a_lost_wake_up() {
    for failed in find(&Explorer::new(), lost_wake_up) {
        let Failure::Deadlock { waits } = &failed.failure else { panic!("{failed}") };
        let [consumer] = &waits[..] else { panic!("{failed}") };
        assert!(consumer.to_string().contains("waits to be notified at "), "{failed}");
    }
}

fn abba() {
    let locks = Arc::new([Mutex::new(0), Mutex::new(0)]);
    let transfer = |from: usize, to: usize| {
        let locks = locks.clone();
        thread::spawn(move || {
            let mut from = locks[from].lock().unwrap();
            let mut to = locks[to].lock().unwrap();
            *from -= 1;
            *to += 1;
        })
    };
    let threads = [transfer(0, 1), transfer(1, 0)];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn an_abba_deadlock() {
    for failed in find(&Explorer::new(), abba) {
        let Failure::Deadlock { waits } = &failed.failure else { panic!("{failed}") };
        let [main, first, second] = &waits[..] else { panic!("{failed}") };
        assert!(main.to_string().contains("waits for the end of thread 0.1"), "{failed}");
        assert_eq!(first.holders().collect::<Vec<_>>(), ["0.2"], "{failed}");
        assert_eq!(second.holders().collect::<Vec<_>>(), ["0.1"], "{failed}");
    }
}

/// Every access of the map is locked, and still a ticket is given twice.
fn atomicity() {
    let stock = Arc::new(Mutex::new(HashMap::from([("ticket", 1)])));
    let buy = || {
        let stock = stock.clone();
        thread::spawn(move || {
            let left = stock.lock().unwrap()["ticket"];
            if left > 0 {
                *stock.lock().unwrap().get_mut("ticket").unwrap() -= 1;
            }
        })
    };
    let buyers = [buy(), buy()];
    buyers.into_iter().for_each(|buyer| buyer.join().unwrap());
    let left = stock.lock().unwrap()["ticket"];
    assert!(left >= 0, "{left} tickets are left");
}

#[test]
fn an_atomicity_violation() {
    for failed in find(&Explorer::new(), atomicity) {
        let message = "thread 0 (main) panicked: -1 tickets are left";
        assert_eq!(failed.failure.to_string(), message);
    }
}

/// Two polite threads: each gives way when it sees that the other wants to go, too.
fn livelock() {
    let wants = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
    let go = |own: usize| {
        let wants = wants.clone();
        thread::spawn(move || {
            wants[own].store(true, Ordering::SeqCst);
            // Nobody ever takes its wish back.
            while wants[1 - own].load(Ordering::SeqCst) {
                thread::yield_now();
            }
            wants[own].store(false, Ordering::SeqCst);
        })
    };
    let threads = [go(0), go(1)];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_livelock() {
    for failed in find(&Explorer::new().max_steps(2_000), livelock) {
        let Failure::Livelock { steps, threads } = &failed.failure else { panic!("{failed}") };
        assert_eq!((*steps, threads.len()), (2_000, 3), "{failed}");
    }
}
