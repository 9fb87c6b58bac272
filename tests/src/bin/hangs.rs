//! Programs that can hang, or send to nobody, though most runs end well: `hangs NAME [right]`.
//!
//! With `right` each is the same program without the bug. Those named `said` do what the bug needs
//! only if they are told so on the standard input.

use std::process::ExitCode;
use std::time::Duration;

use racelog::sync::mpsc::{channel, sync_channel};
use racelog::sync::{Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use racelog::thread;

static A: Mutex<()> = Mutex::new(());
static B: Mutex<()> = Mutex::new(());
static C: Mutex<()> = Mutex::new(());
static R: RwLock<()> = RwLock::new(());
static S: RwLock<()> = RwLock::new(());
static BELL: Condvar = Condvar::new();

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let right = args.next().is_some_and(|word| word == "right");
    match &*name {
        "abba" => abba(right),
        "circle" => circle(right),
        "readers" => readers(right),
        "reread" => reread(right),
        "once-lock" => once_lock(right),
        "once" => once(right),
        "lazy" => lazy(right),
        "join" => join(right),
        "scoped-join" => scoped_join(right),
        "scope" => scope(),
        "timed-wait" => timed_wait(right),
        "parking-lot" => parking_lot(right),
        "upgrade" => upgrade(right),
        "condvar" => condvar(right),
        "park" => park(right),
        "full" => full(right),
        "receive" => receive(right),
        "barrier" => barrier(right),
        "crossbeam" => crossbeam(right),
        "send" => send(right),
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

/// Two locks in opposite orders; right under a third.
fn abba(right: bool) {
    let gate = move || right.then(|| C.lock().unwrap());
    both(
        move || {
            let _gate = gate();
            let _a = A.lock().unwrap();
            let _b = B.lock().unwrap();
        },
        move || {
            let _gate = gate();
            let _b = B.lock().unwrap();
            let _a = A.lock().unwrap();
        },
    );
}

/// Three locks in a circle; right if one takes its two the other way round.
fn circle(right: bool) {
    let spawn = |first: &'static Mutex<()>, second: &'static Mutex<()>| {
        thread::spawn(move || {
            let _first = first.lock().unwrap();
            let _second = second.lock().unwrap();
        })
    };
    let last = if right { spawn(&A, &C) } else { spawn(&C, &A) };
    for thread in [spawn(&A, &B), spawn(&B, &C), last] {
        thread.join().unwrap();
    }
}

/// Each shares a lock and wants what the other shares for itself; right if it wants to share it,
/// too.
fn readers(right: bool) {
    let use_both = move |shared: &'static RwLock<()>, wanted: &'static RwLock<()>| {
        let _shared = shared.read().unwrap();
        match right {
            true => drop(wanted.read().unwrap()),
            false => drop(wanted.write().unwrap()),
        }
    };
    both(move || use_both(&R, &S), move || use_both(&S, &R));
}

/// Shares a lock twice while another wants it for itself; right if once after the other.
fn reread(right: bool) {
    both(
        move || {
            let first = R.read().unwrap();
            let _first = (!right).then_some(first);
            drop(R.read().unwrap());
        },
        || drop(R.write().unwrap()),
    );
}

/// An initialiser takes a lock under which another waits for it; right if that gives it back first.
fn once_lock(right: bool) {
    static VALUE: OnceLock<u32> = OnceLock::new();
    both(
        || {
            VALUE.get_or_init(|| {
                drop(A.lock().unwrap());
                1
            });
        },
        move || {
            let held = A.lock().unwrap();
            let _held = (!right).then_some(held);
            VALUE.get_or_init(|| 2);
        },
    );
}

/// The same, by a `Once`.
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

/// The same, by a `LazyLock`: whoever uses it first runs its initialiser.
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

/// Joins a scoped thread under the lock that it needs; right without.
fn scoped_join(right: bool) {
    thread::scope(|scope| {
        let other = scope.spawn(|| drop(A.lock().unwrap()));
        let held = A.lock().unwrap();
        let _held = (!right).then_some(held);
        other.join().unwrap();
    });
}

/// Waits at the end of a scope under the lock that one of its threads needs.
fn scope() {
    let held = thread::scope(|scope| {
        scope.spawn(|| drop(B.lock().unwrap()));
        scope.spawn(|| drop(A.lock().unwrap()));
        A.lock().unwrap()
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

/// Waits to be notified without asking whether it is still to be; right if it asks.
fn condvar(right: bool) {
    static DONE: Mutex<bool> = Mutex::new(false);
    both(
        move || {
            let mut done = DONE.lock().unwrap();
            if right {
                while !*done {
                    done = BELL.wait(done).unwrap();
                }
            } else {
                drop(BELL.wait(done).unwrap());
            }
        },
        move || {
            let mut done = DONE.lock().unwrap();
            if right {
                *done = true;
            }
            BELL.notify_one();
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

/// A message is sent under a lock that the receiver needs; right if there is room for it.
fn full(right: bool) {
    let (sender, receiver) = sync_channel(if right { 2 } else { 1 });
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

/// As `full`, by a channel of crossbeam.
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

/// The receiver goes after the first message of two; right if it takes both.
fn send(right: bool) {
    let (sender, receiver) = channel();
    let other = thread::spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    receiver.recv().unwrap();
    if right {
        receiver.recv().unwrap();
    }
    drop(receiver);
    other.join().unwrap();
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
