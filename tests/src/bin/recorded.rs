//! Programs to be recorded: `recorded NAME [NUMBER] [FILE]`.
//!
//! The tests run them with `RACELOG=1`, end them in all the ways that a process can end, and
//! compare what they say that they did with what is in their traces.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::ExitCode;

use racelog::cell::{Shared, UnsafeCell};
use racelog::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use racelog::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, mpsc};
use racelog::thread;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let number: usize = args.next().and_then(|word| word.parse().ok()).unwrap_or(10);
    let file = args.next().unwrap_or_default();
    match &*name {
        "race" => race(),
        "marks" => marks(),
        "stress" => stress(number),
        "endless" => endless(number, &file),
        "abort" => {
            count(number);
            std::process::abort();
        }
        "exit" => exit(number),
        "panic" => panic_with_lock(number),
        "threads" => threads(number),
        "objects" => objects(number),
        "count" => count(number),
        "never" => never_ends(number),
        _ => {
            eprintln!("there is no program `{name}`");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// What a program can say to the recorder itself.
fn marks() {
    static mut PLACE: u32 = 3;
    racelog::branch();
    // SAFETY: there is only one thread.
    unsafe { racelog::write!(PLACE, racelog::read!(PLACE) + 1) };
    let sum = 2;
    racelog::check!(sum == 2, "sums are right");
    let cell = UnsafeCell::new(0);
    // SAFETY: nobody else has the cell.
    unsafe { *cell.get() = 1 };
}

/// Two threads that race for a plain cell.
fn race() {
    static SHARED: Shared<u32> = Shared::new(5);
    thread::scope(|scope| {
        scope.spawn(|| SHARED.set(6));
        SHARED.set(7);
    });
}

/// So many atomic updates by two threads; prints how many.
fn count(updates: usize) {
    let counter = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            (0..updates).for_each(|_| {
                counter.fetch_add(1, Ordering::Relaxed);
            });
        });
        (0..updates).for_each(|_| {
            counter.fetch_add(1, Ordering::SeqCst);
        });
    });
    println!("{}", 2 * updates);
}

/// Updates until it is killed. After each one a byte goes to the thread's file: whatever is there
/// was done before.
fn endless(threads: usize, file: &str) {
    let counter = AtomicUsize::new(0);
    let guarded = Mutex::new(0);
    thread::scope(|scope| {
        for number in 0..threads {
            let (counter, guarded) = (&counter, &guarded);
            scope.spawn(move || {
                let path = format!("{file}{number}");
                let mut done = OpenOptions::new().create(true).append(true).open(path).unwrap();
                loop {
                    counter.fetch_add(1, Ordering::Relaxed);
                    *guarded.lock().unwrap() += 1;
                    done.write_all(b"x").unwrap();
                }
            });
        }
    });
}

/// Exits from a thread that is not the main one, while others run on.
fn exit(updates: usize) {
    let busy: thread::JoinHandle<()> = thread::spawn(|| {
        let counter = AtomicU32::new(0);
        loop {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    let exiting = thread::spawn(move || {
        count(updates);
        std::process::exit(3);
    });
    let _: () = exiting.join().unwrap();
    drop(busy);
}

/// A thread panics while it holds a lock.
fn panic_with_lock(updates: usize) {
    let lock = Arc::new(Mutex::new(0));
    let panicking = {
        let lock = lock.clone();
        thread::spawn(move || {
            let _guard = lock.lock().unwrap();
            panic!("on purpose");
        })
    };
    assert!(panicking.join().is_err());
    assert!(lock.is_poisoned());
    assert!(lock.lock().is_err());
    lock.clear_poison();
    *lock.lock().unwrap() += 1;
    count(updates);
}

/// Many threads at the same time.
fn threads(many: usize) {
    let barrier = Barrier::new(many);
    let total = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..many {
            scope.spawn(|| {
                barrier.wait();
                total.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    println!("{}", total.load(Ordering::Relaxed));
}

/// Many objects, one after the other, made and dropped by two threads, so that memory is used
/// again.
fn objects(many: usize) {
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                for number in 0..many / 8 {
                    let atomic = Box::new(AtomicUsize::new(number));
                    atomic.fetch_add(1, Ordering::Relaxed);
                    let cell = Box::new(UnsafeCell::new(number));
                    // SAFETY: nobody else has the cell.
                    cell.with_mut(|value| unsafe { *value += 1 });
                    let shared = Box::new(Shared::new(number));
                    shared.set(shared.get() + 1);
                    let mutex = Box::new(Mutex::new(number));
                    *mutex.lock().unwrap() += 1;
                }
            });
        }
    });
    println!("{many}");
}

/// A thread that never ends, while the program does.
fn never_ends(updates: usize) {
    let started = Arc::new(AtomicBool::new(false));
    {
        let started = started.clone();
        thread::spawn(move || {
            started.store(true, Ordering::Release);
            loop {
                thread::park();
            }
        });
    }
    while !started.load(Ordering::Acquire) {
        thread::yield_now();
    }
    count(updates);
}

/// Eight threads that do everything to the same few objects.
fn stress(rounds: usize) {
    let flags = [const { AtomicU32::new(0) }; 3];
    let cells = [const { Shared::new(0u64) }; 3];
    let mutex = Mutex::new(Vec::new());
    let condvar = Condvar::new();
    let lock = RwLock::new(0);
    let once = OnceLock::new();
    let barrier = Barrier::new(8);
    let (sender, receiver) = mpsc::channel();
    let (bounded, bounded_receiver) = mpsc::sync_channel(2);
    let receivers = Mutex::new((receiver, bounded_receiver));
    thread::scope(|scope| {
        for id in 0..8 {
            let (sender, bounded) = (sender.clone(), bounded.clone());
            let (flags, cells, mutex, condvar) = (&flags, &cells, &mutex, &condvar);
            let (lock, once, barrier, receivers) = (&lock, &once, &barrier, &receivers);
            scope.spawn(move || {
                barrier.wait();
                for round in 0..rounds {
                    let flag = &flags[(id + round) % 3];
                    let cell = &cells[(id * round) % 3];
                    match (id * 7 + round) % 16 {
                        0 => _ = flag.fetch_add(1, Ordering::Relaxed),
                        1 => flag.store(round as u32, Ordering::Release),
                        2 => drop(flag.compare_exchange(
                            round as u32,
                            7,
                            Ordering::AcqRel,
                            Ordering::Acquire,
                        )),
                        3 => drop(flag.try_update(Ordering::SeqCst, Ordering::Relaxed, |old| {
                            (old < 100).then_some(old + 1)
                        })),
                        4 => cell.set(cell.get() + 1),
                        5 => _ = cell.get(),
                        6 => {
                            mutex.lock().unwrap().push(round);
                            condvar.notify_one();
                        }
                        7 => {
                            let guard = mutex.lock().unwrap();
                            let wait = std::time::Duration::from_micros(50);
                            let (mut guard, _) = condvar.wait_timeout(guard, wait).unwrap();
                            guard.pop();
                        }
                        8 => {
                            if let Ok(mut guard) = mutex.try_lock() {
                                guard.clear();
                            }
                        }
                        9 => *lock.write().unwrap() += 1,
                        10 => _ = *lock.read().unwrap(),
                        11 => drop(lock.try_write().map(|mut guard| *guard += 1)),
                        12 => drop(lock.try_read().map(|guard| *guard)),
                        13 => drop(once.get_or_init(|| round)),
                        14 => {
                            sender.send(round).unwrap();
                            _ = bounded.try_send(round);
                        }
                        _ => {
                            let receivers = receivers.lock().unwrap();
                            _ = receivers.0.try_recv();
                            _ = receivers.1.try_recv();
                        }
                    }
                    if round % 64 == 0 {
                        thread::current().unpark();
                        thread::park();
                        condvar.notify_all();
                    }
                }
                barrier.wait();
            });
        }
    });
    println!("{}", flags.iter().map(|flag| flag.load(Ordering::Relaxed)).sum::<u32>());
}
