//! Programs that can hang, though most runs end well: `hangs NAME [right]`. The plain ones are in
//! `examples/src/hangs`; these wait in other ways.
//!
//! With `right` each is the same program without the bug. Those named `said` do what the bug needs
//! only if they are told so on the standard input.

use std::process::ExitCode;
use std::time::Duration;

use racelog::sync::mpsc::channel;
use racelog::sync::{Barrier, Condvar, LazyLock, Mutex, Once};
use racelog::thread;

static A: Mutex<()> = Mutex::new(());
static B: Mutex<()> = Mutex::new(());
static C: Mutex<()> = Mutex::new(());
static BELL: Condvar = Condvar::new();

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let right = args.next().is_some_and(|word| word == "right");
    match &*name {
        "once" => once(right),
        "lazy" => lazy(right),
        "join" => join(right),
        "scope" => scope(right),
        "timed-wait" => timed_wait(right),
        "parking-lot" => parking_lot(right),
        "upgrade" => upgrade(right),
        "park" => park(right),
        "receive" => receive(right),
        "barrier" => barrier(right),
        "crossbeam" => crossbeam(right),
        "said-order" => said_order(),
        "said-lock" => said_lock(),
        _ => {
            eprintln!("there is no program `{name}`");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Runs both in threads of their own, and waits for them.
fn both(one: impl FnOnce() + Send + 'static, other: impl FnOnce() + Send + 'static) {
    let (one, other) = (thread::spawn(one), thread::spawn(other));
    one.join().unwrap();
    other.join().unwrap();
}

/// An initialiser takes a lock under which another waits for it; right if that gives it back first.
fn once(right: bool) {
    static ONCE: Once = Once::new();
    both(
        || ONCE.call_once(|| drop(A.lock().unwrap())),
        move || {
            let held = A.lock().unwrap();
            let _held = (!right).then_some(held);
            ONCE.call_once(|| {});
        },
    );
}

/// The same by a `LazyLock`: whoever uses it first runs its initialiser.
fn lazy(right: bool) {
    static VALUE: LazyLock<u32> = LazyLock::new(|| {
        drop(A.lock().unwrap());
        1
    });
    both(
        || assert_eq!(*VALUE, 1),
        move || {
            let held = A.lock().unwrap();
            let _held = (!right).then_some(held);
            assert_eq!(*VALUE, 1);
        },
    );
}

/// Waits for the end of a thread under the lock that it needs; right without the lock.
fn join(right: bool) {
    let other = thread::spawn(|| drop(A.lock().unwrap()));
    let held = A.lock().unwrap();
    let _held = (!right).then_some(held);
    other.join().unwrap();
}

/// Waits at the end of a scope under the lock that one of its threads needs; right without.
fn scope(right: bool) {
    let held = thread::scope(|scope| {
        scope.spawn(|| drop(B.lock().unwrap()));
        scope.spawn(|| drop(A.lock().unwrap()));
        let held = A.lock().unwrap();
        (!right).then_some(held)
    });
    drop(held);
}

/// A wait with a time limit needs its lock back, which another has that needs one of the waiter's.
fn timed_wait(right: bool) {
    both(
        move || {
            let held = B.lock().unwrap();
            let _held = (!right).then_some(held);
            let guard = A.lock().unwrap();
            drop(BELL.wait_timeout(guard, Duration::from_millis(1)).unwrap());
        },
        || {
            let _a = A.lock().unwrap();
            let _b = B.lock().unwrap();
        },
    );
}

/// Takes a lock of parking_lot and one of std in opposite orders; right in one.
fn parking_lot(right: bool) {
    static OTHER: racelog::parking_lot::RwLock<()> = racelog::parking_lot::RwLock::new(());
    both(
        || {
            let _other = OTHER.write();
            let _a = A.lock().unwrap();
        },
        move || match right {
            true => {
                let _other = OTHER.read();
                let _a = A.lock().unwrap();
            }
            false => {
                let _a = A.lock().unwrap();
                let _other = OTHER.read();
            }
        },
    );
}

/// A reader becomes a writer while another reader waits for a lock of its; right without that lock.
fn upgrade(right: bool) {
    use racelog::parking_lot::{RwLock, RwLockUpgradableReadGuard};
    static L: RwLock<()> = RwLock::new(());
    both(
        move || {
            let held = A.lock().unwrap();
            let _held = (!right).then_some(held);
            drop(RwLockUpgradableReadGuard::upgrade(L.upgradable_read()));
        },
        || {
            let _shared = L.read();
            drop(A.lock().unwrap());
        },
    );
}

/// Two tokens are one; right if one is enough.
fn park(right: bool) {
    let parks = if right { 1 } else { 2 };
    let other = thread::spawn(move || (0..parks).for_each(|_| thread::park()));
    for _ in 0..parks {
        other.thread().unpark();
    }
    other.join().unwrap();
}

/// A message is waited for under a lock that the sender needs; right without the lock.
fn receive(right: bool) {
    let (sender, receiver) = channel();
    both(
        move || {
            let held = A.lock().unwrap();
            let _held = (!right).then_some(held);
            assert_eq!(receiver.recv(), Ok(1));
        },
        move || {
            drop(A.lock().unwrap());
            sender.send(1).unwrap();
        },
    );
}

/// A barrier is waited at under a lock that the other needs to get there; right without the lock.
fn barrier(right: bool) {
    static BARRIER: Barrier = Barrier::new(2);
    both(
        move || {
            let held = A.lock().unwrap();
            let _held = (!right).then_some(held);
            BARRIER.wait();
        },
        || {
            drop(A.lock().unwrap());
            BARRIER.wait();
        },
    );
}

/// A message is sent under a lock that the receiver needs, by a channel of crossbeam; right if there
/// is room for it.
fn crossbeam(right: bool) {
    let (sender, receiver) = racelog::crossbeam::channel::bounded(if right { 2 } else { 1 });
    sender.send(0).unwrap();
    both(
        move || {
            let _held = A.lock().unwrap();
            sender.send(1).unwrap();
        },
        move || {
            drop(A.lock().unwrap());
            receiver.recv().unwrap();
            receiver.recv().unwrap();
        },
    );
}

/// Whether anything is said on the standard input.
fn is_told() -> bool {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    !line.trim().is_empty()
}

/// Takes two locks in the opposite order only if it is told so.
fn said_order() {
    let opposite = is_told();
    both(
        || {
            let _a = A.lock().unwrap();
            let _b = B.lock().unwrap();
        },
        move || match opposite {
            true => {
                let _b = B.lock().unwrap();
                let _a = A.lock().unwrap();
            }
            false => {
                let _a = A.lock().unwrap();
                let _b = B.lock().unwrap();
            }
        },
    );
}

/// Which lock it takes depends on what it is told; not where.
fn said_lock() {
    let own = if is_told() { &B } else { &C };
    both(
        || {
            let _a = A.lock().unwrap();
            let _b = B.lock().unwrap();
        },
        move || {
            let _own = own.lock().unwrap();
            let _a = A.lock().unwrap();
        },
    );
}
