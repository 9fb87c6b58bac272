//! Accounts in a ring, each with an owner who deposits, withdraws and transfers money to the next.
//!
//! - `account`: a transfer holds the lock of its own account, and changes the other's without its
//!   lock. Race; money is lost or made.
//! - `account_deadlock`: it takes the other's lock as well while it holds its own. No race, but if
//!   all owners do so at once, nobody gets the second lock.
//! - `account_ordered`: it takes the two locks in the order of the ring's numbers. Right.
//!
//! Threads: accounts, at least two. Work: rounds of each owner.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Goal, GoalKind, Harm, Origin, Program, Race, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "account",
    about: "a transfer changes the other account without its lock",
    origin: Origin::ConTest,
    source: Source { file: file!(), text: include_str!("account.rs") },
    run: |size| run(size, Locking::Own),
    small: Size::new(2, 1),
    large: Size::new(8, 75_000),
    races: &[
        Race::new("own-read", "other-write", Harm::LostUpdate, "a transfer comes in between"),
        Race::new("own-write", "other-read", Harm::LostUpdate, "the owner comes in between"),
        Race::new("own-write", "other-write", Harm::LostUpdate, "one of two changes is lost"),
    ],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of the variant that may deadlock.
pub static DEADLOCK: Program = Program {
    name: "account_deadlock",
    about: "a transfer takes the other account's lock while it holds its own: a ring of locks",
    run: |size| run(size, Locking::OwnFirst),
    races: &[],
    goals: &[Goal::new(
        GoalKind::Deadlock,
        &["second-lock", "second-lock"],
        "all owners hold their own lock and wait for the next one's",
    )],
    schedule: "random:2",
    hangs: Some("all owners hold their own lock and wait for the next one's"),
    ..PROGRAM
};

/// What is said of the right variant.
pub static ORDERED: Program = Program {
    name: "account_ordered",
    about: "a transfer takes both locks in one order that all keep to",
    run: |size| run(size, Locking::LowFirst),
    races: &[],
    ..PROGRAM
};

/// Which locks a transfer takes.
#[derive(Clone, Copy)]
enum Locking {
    Own,
    OwnFirst,
    LowFirst,
}

struct Account {
    lock: Mutex<()>,
    amount: Shared<i64>,
}

fn run(size: &Size, locking: Locking) {
    let new = |_| Account { lock: Mutex::new(()), amount: Shared::new(0) };
    let accounts: Vec<Account> = (0..size.threads.max(2)).map(new).collect();
    thread::scope(|scope| {
        for me in 0..accounts.len() {
            let accounts = &accounts;
            scope.spawn(move || own(accounts, me, size.work, locking));
        }
    });
    let total: i64 = accounts.iter().map(|account| account.amount.get()).sum();
    let rounds = i64::try_from(accounts.len() * size.work).unwrap();
    racelog::check!(total == 200 * rounds, "the money is all there");
}

#[racelog::instrument]
fn own(accounts: &[Account], me: usize, rounds: usize, locking: Locking) {
    let next = (me + 1) % accounts.len();
    for _ in 0..rounds {
        {
            let _guard = accounts[me].lock.lock().unwrap();
            change(&accounts[me], 300);
        }
        {
            let _guard = accounts[me].lock.lock().unwrap();
            change(&accounts[me], -100);
        }
        match locking {
            Locking::Own => {
                let _guard = accounts[me].lock.lock().unwrap();
                change(&accounts[me], -100);
                change_other(&accounts[next], 100);
            }
            Locking::OwnFirst => transfer(&accounts[me], &accounts[next], [me, next], accounts),
            Locking::LowFirst => {
                let order = [me.min(next), me.max(next)];
                transfer(&accounts[me], &accounts[next], order, accounts);
            }
        }
    }
}

/// Transfers with two locks.
#[racelog::instrument]
fn transfer(from: &Account, to: &Account, order: [usize; 2], accounts: &[Account]) {
    let _first = accounts[order[0]].lock.lock().unwrap();
    let _second = accounts[order[1]].lock.lock().unwrap(); // [second-lock]
    change(from, -100);
    change(to, 100);
}

#[racelog::instrument]
fn change(account: &Account, by: i64) {
    let amount = account.amount.get(); // [own-read]
    account.amount.set(amount + by); // [own-write]
}

/// As `change`, but by another owner.
#[racelog::instrument]
fn change_other(account: &Account, by: i64) {
    let amount = account.amount.get(); // [other-read]
    account.amount.set(amount + by); // [other-write]
}
