//! Tests that pass, and races all the same: what `cargo racelog test` is for.
//!
//! ```text
//! cargo racelog test -p racelog-examples --no-default-features --lib lessons
//! ```

use racelog::cell::{Shared, UnsafeCell};
use racelog::sync::Mutex;
use racelog::sync::atomic::{AtomicBool, Ordering};
use racelog::thread;

/// An account whose two halves were written by two people.
#[derive(Default)]
struct Account {
    deposits: Mutex<()>,
    withdrawals: Mutex<()>,
    balance: Shared<i64>,
}

impl Account {
    fn deposit(&self, amount: i64) {
        let _guard = self.deposits.lock().unwrap();
        self.balance.set(self.balance.get() + amount);
    }

    fn withdraw(&self, amount: i64) {
        let _guard = self.withdrawals.lock().unwrap();
        self.balance.set(self.balance.get() - amount);
    }
}

/// Both halves hold a lock. It is not the same one.
#[racelog::test]
fn two_locks_are_none() {
    let account = Account::default();
    thread::scope(|scope| {
        scope.spawn(|| account.deposit(5));
        scope.spawn(|| account.withdraw(3));
    });
    assert!(account.balance.get() != 100);
}

/// A server that counts requests, and says so when it is asked.
#[derive(Default)]
struct Server {
    log: Mutex<Vec<&'static str>>,
    requests: Shared<u32>,
}

impl Server {
    #[racelog::instrument]
    fn serve(&self) {
        self.requests.set(1);
        let mut log = self.log.lock().unwrap();
        log.push("served");
    }

    #[racelog::instrument]
    fn status(&self) -> u32 {
        {
            let mut log = self.log.lock().unwrap();
            log.push("asked");
        }
        self.requests.get()
    }
}

/// The lock is taken in between, so that the two are ordered whenever the server happens to be first. Nothing
/// makes it so: what is logged does not depend on who was first.
#[racelog::test]
fn order_by_luck() {
    let server = Server::default();
    thread::scope(|scope| {
        scope.spawn(|| server.serve());
        assert!(server.status() < 2);
    });
}

/// A value that is published once.
struct Slot {
    value: UnsafeCell<u64>,
    ready: AtomicBool,
}

// SAFETY: `value` is written by one thread, and read after `ready` has been seen. That is not enough if
// the orderings are too weak, which is what the lesson is about.
unsafe impl Sync for Slot {}

impl Slot {
    const fn new() -> Self {
        Self { value: UnsafeCell::new(0), ready: AtomicBool::new(false) }
    }

    #[racelog::instrument]
    fn publish(&self, value: u64, ordering: Ordering) {
        // SAFETY: nobody reads it before it is ready.
        unsafe { *self.value.get() = value };
        self.ready.store(true, ordering);
    }

    #[racelog::instrument]
    fn wait(&self, ordering: Ordering) -> u64 {
        while !self.ready.load(ordering) {
            thread::yield_now();
        }
        // SAFETY: it is ready, and nobody writes it again.
        unsafe { *self.value.get() }
    }
}

/// Every interleaving of this is right. The processor and the compiler know more than interleavings.
#[racelog::test]
fn relaxed_publishes_nothing() {
    let slot = Slot::new();
    thread::scope(|scope| {
        scope.spawn(|| slot.publish(7, Ordering::Relaxed));
        assert_eq!(slot.wait(Ordering::Relaxed), 7);
    });
}

/// The same with the right orderings: nothing to report.
#[racelog::test]
fn release_publishes() {
    let slot = Slot::new();
    thread::scope(|scope| {
        scope.spawn(|| slot.publish(7, Ordering::Release));
        assert_eq!(slot.wait(Ordering::Acquire), 7);
    });
}
