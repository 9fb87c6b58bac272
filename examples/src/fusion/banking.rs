//! Threads move money between accounts, each of which has a lock; in the end the sum must be what
//! it was.
//!
//! Bug: in `banking_a` a balance is read under its lock, the new one is worked out without it, and
//! written back under the lock again. Every access is guarded, so there is no race; but what
//! another thread wrote in between is lost. In `banking` the lock is kept.
//!
//! Work: transfers of each thread. There are as many accounts as threads, and thread *i* pays from
//! account *i* to the next.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Goal, GoalKind, Origin, Program, Size, Source};

const SOURCE: Source = Source { file: file!(), text: include_str!("banking.rs") };

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "banking",
    about: "transfers between accounts, each change of a balance in one step",
    origin: Origin::Fusion,
    source: SOURCE,
    run: |size| transfer_all(size, change),
    small: Size::new(2, 1),
    large: Size::new(10, 1_000),
    races: &[],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its wrong twin.
pub static WRONG: Program = Program {
    name: "banking_a",
    about: "as `banking`, but the lock is given back between reading a balance and writing it",
    run: |size| transfer_all(size, change_in_steps),
    goals: &[Goal::new(
        GoalKind::InferredAtomicity,
        &["set-later"],
        "another thread changes the balance after it was read",
    )],
    ..PROGRAM
};

/// What is in each account at first.
const BALANCE: i64 = 100;

struct Account {
    lock: Mutex<()>,
    balance: Shared<i64>,
}

#[racelog::instrument]
fn change(account: &Account, amount: i64) {
    let _guard = account.lock.lock().unwrap();
    let balance = account.balance.get();
    account.balance.set(balance + amount);
}

#[racelog::instrument]
fn change_in_steps(account: &Account, amount: i64) {
    let balance = {
        let _guard = account.lock.lock().unwrap();
        account.balance.get()
    };
    let _guard = account.lock.lock().unwrap();
    account.balance.set(balance + amount); // [set-later]
}

fn transfer_all(size: &Size, change: fn(&Account, i64)) {
    let account = |_| Account { lock: Mutex::new(()), balance: Shared::new(BALANCE) };
    let accounts: Vec<Account> = (0..size.threads).map(account).collect();
    let (accounts, work) = (&accounts, size.work);
    thread::scope(|scope| {
        for me in 0..size.threads {
            scope.spawn(move || {
                for _ in 0..work {
                    change(&accounts[me], -1);
                    change(&accounts[(me + 1) % accounts.len()], 1);
                }
            });
        }
    });
    let sum: i64 = accounts.iter().map(|account| account.balance.get()).sum();
    racelog::check!(sum == BALANCE * size.threads as i64, "no money is made or lost");
}
