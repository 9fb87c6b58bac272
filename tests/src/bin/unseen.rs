//! Programs in which something orders accesses that a trace does not have, or had not: that a lock is not
//! poisoned, and threads that nobody who is recorded starts. `tests/suite/unseen.rs` records and analyses them.
//!
//!     unseen PROGRAM [racy]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::Ordering::{self, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::mpsc as unrecorded;
use std::time::Duration;

use racelog::__private::TestSession;
use racelog::cell::Shared;
use racelog::sync::atomic::AtomicUsize;
use racelog::sync::{Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use racelog::thread;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let racy = args.next().is_some_and(|word| word == "racy");
    match &*name {
        "mutex" => mutex(racy),
        "try-lock" => try_lock(racy),
        "condvar" => condvar(racy),
        "rwlock-read" => rwlock(racy, |lock| lock.read().is_ok()),
        "rwlock-write" => rwlock(racy, |lock| lock.write().is_ok()),
        "rwlock-is-poisoned" => rwlock(racy, |lock| !lock.is_poisoned()),
        "is-poisoned" => is_poisoned(racy),
        "clear-poison" => clear_poison(racy),
        "poisoned-twice" => poisoned_twice(racy),
        "once" => once(racy),
        "once-poisoned" => once_poisoned(racy),
        "once-lock" => once_lock(racy),
        "lazy" => lazy(racy),
        "lazy-poisoned" => lazy_poisoned(racy),
        "scope" => scope(racy),
        "messenger" => messenger(racy),
        "crowd" => crowd(),
        "pool" => pool(),
        "two-tests" => two_tests(),
        _ => {
            eprintln!("there is no program `{name}`");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// One thread writes to a cell if `look` finds something to be as it was; another, later, changes that, both under
/// one lock, and then writes to the cell. A race, if the first does not look.
fn twins(racy: bool, look: impl Fn() -> bool + Sync, change: impl Fn() + Sync) {
    let (k, x) = (Mutex::new(()), Shared::new(0));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            {
                let _k = k.lock().unwrap();
                if racy || look() {
                    x.set(2);
                }
            }
            done.store(true, Ordering::SeqCst);
        });
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            {
                let _k = k.lock().unwrap();
                change();
            }
            x.set(3);
        });
    });
}

/// Panics while it has something.
fn panic_with<G>(take: impl FnOnce() -> G) {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _guard = take();
        panic!("on purpose");
    }));
    assert!(caught.is_err());
}

fn mutex(racy: bool) {
    let m = Mutex::new(());
    twins(racy, || m.lock().is_ok(), || panic_with(|| m.lock()));
}

fn try_lock(racy: bool) {
    let m = Mutex::new(());
    twins(racy, || m.try_lock().is_ok(), || panic_with(|| m.lock()));
}

/// That the lock is sound when a wait ends, too.
fn condvar(racy: bool) {
    let (m, c) = (Mutex::new(()), Condvar::new());
    let look = || {
        // Whoever takes a lock that is poisoned waits all the same.
        let guard = m.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        c.wait_timeout(guard, Duration::ZERO).is_ok()
    };
    twins(racy, look, || panic_with(|| m.lock()));
}

fn rwlock(racy: bool, look: fn(&RwLock<()>) -> bool) {
    let lock = RwLock::new(());
    twins(racy, || look(&lock), || panic_with(|| lock.write()));
}

fn is_poisoned(racy: bool) {
    let m = Mutex::new(());
    twins(racy, || !m.is_poisoned(), || panic_with(|| m.lock()));
}

fn clear_poison(racy: bool) {
    let m = Mutex::new(());
    panic_with(|| m.lock());
    twins(racy, || m.lock().is_err(), || m.clear_poison());
}

/// What was sound, poisoned and sound again is still read.
fn poisoned_twice(racy: bool) {
    let m = Mutex::new(());
    assert!(m.lock().is_ok());
    panic_with(|| m.lock());
    m.clear_poison();
    twins(racy, || m.lock().is_ok(), || panic_with(|| m.lock()));
    assert!(m.lock().is_err());
}

fn once(racy: bool) {
    let once = Once::new();
    twins(racy, || !once.is_completed(), || once.call_once(|| ()));
}

fn once_poisoned(racy: bool) {
    let once = Once::new();
    panic_with(|| once.call_once(|| panic!("on purpose")));
    let look = || catch_unwind(AssertUnwindSafe(|| once.call_once(|| ()))).is_err();
    twins(racy, look, || once.call_once_force(|state| assert!(state.is_poisoned())));
}

fn once_lock(racy: bool) {
    let lock = OnceLock::new();
    twins(racy, || lock.get().is_none(), || assert!(lock.set(1).is_ok()));
}

fn lazy(racy: bool) {
    let lazy = LazyLock::new(|| 1);
    twins(racy, || LazyLock::get(&lazy).is_none(), || assert_eq!(*lazy, 1));
}

/// Who makes the value panics; the other finds that it cannot be had.
fn lazy_poisoned(racy: bool) {
    let lazy: LazyLock<u32> = LazyLock::new(|| panic!("mine"));
    let force = || catch_unwind(AssertUnwindSafe(|| *lazy));
    let mine = |panic: Box<dyn std::any::Any + Send>| panic.downcast_ref::<&str>() == Some(&"mine");
    twins(racy, || force().is_err_and(mine), || assert!(force().is_err()));
}

/// A thread of std's is ordered by its start and its end, and nobody sees it.
fn scope(racy: bool) {
    let (x, y) = (Shared::new(0), Shared::new(0));
    x.set(1);
    std::thread::scope(|scope| {
        scope.spawn(|| x.set(2));
    });
    x.set(3);
    if racy {
        thread::scope(|scope| {
            scope.spawn(|| y.set(1));
            y.set(2);
        });
    }
}

/// Two threads use a cell one after the other, for long; what orders them is a message by way of a thread of
/// std's. In the racy twin both go on when the message is there.
fn messenger(racy: bool) {
    let (x, y) = (Shared::new(0u64), Shared::new(0));
    let turn = AtomicU32::new(0);
    let wait_for = |number| {
        while turn.load(Ordering::SeqCst) < number {
            std::thread::yield_now();
        }
    };
    let many = || (0..500).for_each(|number| x.set(number));
    std::thread::scope(|std_scope| {
        std_scope.spawn(|| {
            wait_for(1);
            y.set(1);
            turn.store(2, Ordering::SeqCst);
        });
        thread::scope(|scope| {
            scope.spawn(|| {
                if racy {
                    turn.store(1, Ordering::SeqCst);
                    wait_for(2);
                }
                many();
                if !racy {
                    turn.store(1, Ordering::SeqCst);
                }
            });
            scope.spawn(|| {
                wait_for(2);
                many();
            });
        });
    });
}

/// Threads of both kinds that use the same things, by the rules, and cells of their own for long.
fn crowd() {
    let (guarded, lock, count) = (Mutex::new(0), RwLock::new(0), AtomicUsize::new(0));
    let (shared, condvar) = (Shared::new(0u32), Condvar::new());
    let work = &|number: u32| {
        let own = Shared::new(number);
        for round in 0..100 {
            (0..100).for_each(|step| own.set(own.get() + step));
            match (number + round) % 5 {
                0 => {
                    *guarded.lock().unwrap() += 1;
                    condvar.notify_one();
                }
                1 => _ = condvar.wait_timeout(guarded.lock().unwrap(), Duration::from_micros(20)),
                2 => {
                    let _guard = lock.write().unwrap();
                    shared.set(shared.get() + 1);
                }
                3 => {
                    let _guard = lock.read().unwrap();
                    count.fetch_add(shared.get() as usize, SeqCst);
                }
                _ => _ = guarded.try_lock(),
            }
        }
    };
    thread::scope(|scope| {
        (0..3).for_each(|number| drop(scope.spawn(move || work(number))));
        std::thread::scope(|scope| {
            (3..6).for_each(|number| drop(scope.spawn(move || work(number))));
        });
    });
}

type Job = Box<dyn FnOnce() + Send>;

/// Does what it is asked to, in a thread of std's that lives as long as this.
struct Pool(unrecorded::Sender<(Job, unrecorded::Sender<()>)>);

impl Pool {
    fn new() -> Self {
        let (jobs, asked) = unrecorded::channel::<(Job, unrecorded::Sender<()>)>();
        std::thread::spawn(move || {
            for (job, done) in asked {
                job();
                let _ = done.send(());
            }
        });
        Self(jobs)
    }

    /// Has it do something, and waits for that.
    fn run(&self, job: impl FnOnce() + Send + 'static) {
        let (done, wait) = unrecorded::channel();
        self.0.send((Box::new(job), done)).unwrap();
        wait.recv().unwrap();
    }
}

/// Each test has its part of what a pool does that lives longer than they.
fn pool() {
    static CELLS: [Shared<u32>; 3] = [const { Shared::new(0) }; 3];
    static LOCK: Mutex<u32> = Mutex::new(0);
    let pool = Pool::new();
    for (number, name) in ["suite::one", "suite::two", "suite::three"].into_iter().enumerate() {
        let _session = TestSession::start("pool", name);
        CELLS[number].set(1);
        for _ in 0..3 {
            pool.run(move || {
                *LOCK.lock().unwrap() += 1;
                CELLS[number].set(CELLS[number].get() + 1);
            });
            CELLS[number].set(CELLS[number].get() + 1);
            *LOCK.lock().unwrap() += 1;
        }
    }
}

/// Two tests at once: nobody knows for whom a pool works, until one of them is over.
fn two_tests() {
    static CELLS: [Shared<u32>; 2] = [const { Shared::new(0) }; 2];
    let pool = Pool::new();
    let left = TestSession::start("pool", "suite::left");
    let (begun, has_begun) = unrecorded::channel();
    let (go, can_go) = unrecorded::channel::<()>();
    let right = std::thread::spawn(move || {
        let _session = TestSession::start("pool", "suite::right");
        CELLS[1].set(1);
        begun.send(()).unwrap();
        can_go.recv().unwrap();
    });
    CELLS[0].set(1);
    has_begun.recv().unwrap();
    pool.run(|| CELLS[0].set(2));
    go.send(()).unwrap();
    right.join().unwrap();
    pool.run(|| CELLS[0].set(3));
    CELLS[0].set(4);
    drop(left);
}
