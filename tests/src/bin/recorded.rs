//! Programs to be recorded: `recorded NAME [NUMBER] [FILE]`.
//!
//! The tests run them with `RACELOG=1`, end them in all the ways that a process can end, and
//! compare what they say that they did with what is in their traces.

use std::cell::RefCell;
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
        "scope-locals" => scope_locals(false),
        "scope-locals-joined" => scope_locals(true),
        "scope-results" => scope_results(),
        "marks" => marks(),
        "stress" => stress(number),
        "cells" => cells(number),
        "walk" => walk(number),
        "handed-over" => handed_over(number),
        "endless-cells" => endless_cells(number, &file),
        "endless" => endless(number, &file),
        "abort" => {
            count(number);
            std::process::abort();
        }
        "exit" => exit(number),
        "panic" => panic_with_lock(number),
        "threads" => threads(number),
        "small-stacks" => small_stacks(number),
        "looks" => looks(number),
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

/// Threads whose stacks are as small as the system has them.
fn small_stacks(number: usize) {
    let counted = Mutex::new(0);
    let updates = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for (turn, sender) in (0..number).zip(std::iter::repeat(sender)) {
            let (counted, updates) = (&counted, &updates);
            let work = move || {
                *counted.lock().unwrap() += 1;
                updates.fetch_add(1, Ordering::Relaxed);
                sender.send(turn).unwrap();
            };
            let builder = thread::Builder::new().stack_size([0, 20, 4096, 16 << 10][turn % 4]);
            builder.spawn_scoped(scope, work).unwrap();
        }
    });
    assert_eq!(receiver.into_iter().count(), number);
    println!("{}", *counted.lock().unwrap());
}

/// Threads that are looked at until they have ended, so often that looks fall into every instant of
/// their ends; then a cell is used that they have used, with no other order than that.
fn looks(number: usize) {
    let mut looks = 0;
    for _ in 0..number {
        let cell = Arc::new(Shared::new(0));
        let about_to_end = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let (theirs, ends) = (cell.clone(), about_to_end.clone());
        let thread = thread::spawn(move || {
            theirs.set(1);
            // Not recorded: it is no order of the trace.
            ends.store(true, Ordering::Relaxed);
        });
        while !about_to_end.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        loop {
            looks += 1;
            if thread.is_finished() {
                break;
            }
        }
        cell.set(2);
        thread.join().unwrap();
    }
    println!("{looks}");
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

thread_local! {
    static LOCAL: RefCell<Option<SetsWhenDropped>> = const { RefCell::new(None) };
}

static LATE: Shared<u32> = Shared::new(0);

/// Writes to a cell at the end of its life.
struct SetsWhenDropped(mpsc::Sender<()>);

impl Drop for SetsWhenDropped {
    fn drop(&mut self) {
        LATE.set(1);
        let _ = self.0.send(());
    }
}

/// Scoped threads whose thread-locals write to a cell when they go. Who joins a thread waits for
/// that; the scope does not.
fn scope_locals(joined: bool) {
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let other = scope.spawn(|| ());
        let thread = scope.spawn(|| LOCAL.set(Some(SetsWhenDropped(sender))));
        if joined {
            thread.join().unwrap();
            other.join().unwrap();
        }
    });
    LATE.set(2);
    // So that it has happened when the program ends.
    receiver.recv().unwrap();
}

/// Results that nobody asks for are dropped by their threads, before the scope ends.
fn scope_results() {
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| ());
        scope.spawn(|| SetsWhenDropped(sender));
    });
    LATE.set(2);
    receiver.recv().unwrap();
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

/// Threads that count in cells of their own, which one of them looks at now and then, until it is
/// killed. After every thousand writes a byte goes to the thread's file.
fn endless_cells(threads: usize, file: &str) {
    let cells: Vec<Shared<u64>> = (0..threads).map(|_| Shared::new(0)).collect();
    thread::scope(|scope| {
        for number in 0..threads {
            let cells = &cells;
            scope.spawn(move || {
                let path = format!("{file}{number}");
                let mut done = OpenOptions::new().create(true).append(true).open(path).unwrap();
                for round in 1.. {
                    for _ in 0..1000 {
                        cells[number].set(cells[number].get() + 1);
                    }
                    done.write_all(b"x").unwrap();
                    if number == 0 && round % 16 == 0 {
                        cells.iter().for_each(|cell| _ = cell.get());
                    }
                }
            });
        }
    });
}

/// Numbers that look like chance.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Four threads that use cells of all kinds, each for some time in a row, with no regard for the
/// others. Prints how many reads and writes there were.
fn cells(rounds: usize) {
    let small = [const { Shared::new(0u8) }; 2];
    let signed = Shared::new(0i64);
    let words = [const { Shared::new(u64::MAX / 2) }; 2];
    let floating = Shared::new(1.5f64);
    let opaque = Shared::new((0u8, 0u16));
    let (lock, accesses) = (Mutex::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for id in 0..4 {
            let (small, signed, words) = (&small, &signed, &words);
            let (floating, opaque, lock, accesses) = (&floating, &opaque, &lock, &accesses);
            scope.spawn(move || {
                let mut dice = Dice(id * 77 + 1);
                for _ in 0..rounds {
                    let (kind, many, step) = (dice.below(8), dice.below(400), dice.below(200));
                    for time in 0..many {
                        match kind {
                            0 | 1 => {
                                let cell = &small[kind as usize];
                                cell.set(cell.get().wrapping_add(step as u8));
                            }
                            2 => signed
                                .set(signed.get().wrapping_sub(i64::MAX / 3 * (time as i64 % 2))),
                            3 => signed.set(-signed.get()),
                            4 | 5 => {
                                let cell = &words[kind as usize - 4];
                                let old = cell.get();
                                if time % 7 == 0 {
                                    cell.set(old.wrapping_mul(3));
                                } else {
                                    cell.set(old.wrapping_add(step));
                                }
                            }
                            6 => floating.set(floating.get() + 0.25),
                            _ => opaque.set((opaque.get().0.wrapping_add(1), 7)),
                        }
                    }
                    accesses.fetch_add(2 * many as usize, Ordering::Relaxed);
                    *lock.lock().unwrap() += 1;
                }
            });
        }
    });
    println!("{}", accesses.load(Ordering::Relaxed));
}

/// Four threads go through the same cells, each cell long enough to be one thread's own. Prints how
/// many reads and writes there were.
fn walk(many: usize) {
    let cells: Vec<Shared<u32>> = (0..many).map(|_| Shared::new(0)).collect();
    let accesses = AtomicUsize::new(0);
    thread::scope(|scope| {
        for id in 0..4 {
            let (cells, accesses) = (&cells, &accesses);
            scope.spawn(move || {
                let mut dice = Dice(id * 77 + 1);
                for cell in cells {
                    let times = dice.below(80);
                    for _ in 0..times {
                        cell.set(cell.get() + 1);
                    }
                    accesses.fetch_add(2 * times as usize, Ordering::Relaxed);
                }
            });
        }
    });
    println!("{}", accesses.load(Ordering::Relaxed));
}

/// Cells that one thread uses for long, and then others: by reference, by `&mut`, moved, in a new
/// place at an old address, in instrumented code. Prints how many reads and writes there were.
fn handed_over(rounds: usize) {
    let mut accesses = 0;
    let mut count = |cell: &Shared<u32>, times: u32| {
        for _ in 0..times {
            cell.set(cell.get() + 1);
        }
        accesses += 2 * times as usize;
    };
    for _ in 0..rounds {
        let mut cell = Shared::new(0);
        count(&cell, 100);
        *cell.get_mut() += 1000;
        count(&cell, 100);
        let mut moved = Box::new(cell);
        // Where the old one was.
        let cell = Shared::new(5);
        count(&cell, 100);
        count(&moved, 100);
        count_instrumented(&moved);
        count(&moved, 100);
        thread::scope(|scope| scope.spawn(|| moved.set(moved.get() + 1)).join().unwrap());
        count(&moved, 100);
        *moved = Shared::new(9);
        count(&moved, 100);
        assert_eq!(moved.into_inner(), 109);
        assert_eq!(cell.get(), 105);
    }
    println!("{}", accesses + 11 * rounds);
}

/// Counts to four.
#[racelog::instrument]
fn count_instrumented(cell: &Shared<u32>) {
    for _ in 0..4 {
        cell.set(cell.get() + 1);
    }
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
