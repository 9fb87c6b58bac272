//! Programs to be run under control: `controlled NAME [NUMBER|FILE]`.

use std::process::ExitCode;
use std::time::SystemTime;

use racelog::cell::Shared;
use racelog::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use racelog::sync::{Arc, Condvar, Mutex, RwLock, RwLockWriteGuard, mpsc};
use racelog::thread;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let word = args.next().unwrap_or_default();
    let number: usize = word.parse().unwrap_or(3);
    match &*name {
        "four" => four(number),
        "late" => late_flag(),
        "deadlock" => deadlock(),
        "ends" => ends(&word),
        "outside" => outside(),
        "spin" => spin(),
        "livelock" => livelock(),
        "input" => two_ways(input() == "lock"),
        "time" => two_ways(is_first_time(&word)),
        "stranger" => stranger(),
        "value" => value(),
        "scope" => scope(),
        "rwlock" => rwlock(),
        _ => {
            eprintln!("there is no program `{name}`");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Four threads with locks, condvars, channels and atomics. What it prints depends on the order.
fn four(rounds: usize) {
    let board = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
    let tickets = Arc::new(AtomicU32::new(0));
    // Where it points is another address in every process.
    static LAST: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut());
    let (sender, receiver) = mpsc::channel();
    let (bounded, taken) = mpsc::sync_channel(1);
    let workers: Vec<_> = (0..2)
        .map(|id| {
            let (board, tickets, sender) = (board.clone(), tickets.clone(), sender.clone());
            thread::Builder::new()
                .name(format!("worker-{id}"))
                .spawn(move || {
                    for round in 0..rounds {
                        let mut ticket = tickets.fetch_add(1, Ordering::SeqCst);
                        LAST.store(&raw mut ticket, Ordering::SeqCst);
                        let mut list = board.0.lock().unwrap();
                        list.push((id, round, ticket));
                        board.1.notify_one();
                        drop(list);
                        sender.send(ticket).unwrap();
                    }
                })
                .unwrap()
        })
        .collect();
    drop(sender);
    let forwarder = thread::spawn(move || {
        for ticket in &receiver {
            bounded.send(ticket * 10).unwrap();
        }
    });
    let mut seen = 0;
    while seen < 2 * rounds {
        let mut list = board.0.lock().unwrap();
        while list.len() == seen {
            list = board.1.wait(list).unwrap();
        }
        seen = list.len();
    }
    assert!(!LAST.load(Ordering::SeqCst).is_null());
    println!("{:?}", board.0.lock().unwrap());
    println!("{:?}", taken.iter().collect::<Vec<_>>());
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    forwarder.join().unwrap();
}

/// One thread says under a lock that it is done, but sets what the other reads only after that. The
/// natural order hides it: the reader looks late.
fn late_flag() {
    static RESULT: Shared<u32> = Shared::new(0);
    let done = Arc::new(Mutex::new(false));
    let writer = thread::spawn({
        let done = done.clone();
        move || {
            *done.lock().unwrap() = true;
            RESULT.set(7);
        }
    });
    let reader = thread::spawn(move || {
        let done = *done.lock().unwrap();
        if done {
            let result = RESULT.get();
            racelog::check!(result == 7, "the result is there");
        }
    });
    writer.join().unwrap();
    reader.join().unwrap();
}

/// Two threads that take two locks in opposite orders.
fn deadlock() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = thread::spawn({
        let locks = locks.clone();
        move || {
            let _second = locks.1.lock().unwrap();
            let _first = locks.0.lock().unwrap();
        }
    });
    let first = locks.0.lock().unwrap();
    let second = locks.1.lock().unwrap();
    drop((first, second));
    other.join().unwrap();
}

/// A race, and then the end that is asked for; or that end before the race, if nothing is said on the
/// standard input.
fn ends(how: &str) {
    static PLACE: Shared<u32> = Shared::new(0);
    if how == "early" && input().is_empty() {
        std::process::abort();
    }
    static BEGUN: AtomicU32 = AtomicU32::new(0);
    BEGUN.store(1, Ordering::SeqCst);
    if how == "exits early" && input().is_empty() {
        std::process::exit(3);
    }
    if how == "panics early" {
        assert!(!input().is_empty(), "0.1 is not 0");
    }
    let other = thread::spawn(|| PLACE.set(1));
    PLACE.set(2);
    other.join().unwrap();
    match how {
        "abort" => std::process::abort(),
        "exit" => std::process::exit(3),
        "panics" => panic!("0.1 is not 0"),
        "panics later" => assert!(!input().is_empty(), "nothing was said"),
        _ => {}
    }
}

/// What seems to be a race, because nobody sees that a thread waits before its access.
fn outside() {
    static PLACE: Shared<u32> = Shared::new(0);
    let (sender, receiver) = std::sync::mpsc::channel();
    let other = thread::spawn(move || {
        receiver.recv().unwrap();
        PLACE.set(1);
    });
    PLACE.set(2);
    sender.send(()).unwrap();
    other.join().unwrap();
}

/// Goes another way by its input, too, and besides has a thread that recorded code did not start.
fn stranger() {
    static SEEN: AtomicU32 = AtomicU32::new(0);
    // The first that is recorded.
    SEEN.store(0, Ordering::SeqCst);
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stranger = std::thread::spawn({
        let done = done.clone();
        move || {
            SEEN.store(1, Ordering::SeqCst);
            done.store(true, Ordering::SeqCst);
        }
    });
    while !done.load(Ordering::SeqCst) {
        thread::yield_now();
    }
    two_ways(input() == "lock");
    stranger.join().unwrap();
}

/// Goes another way by a value that one thread has from its input and the other reads.
fn value() {
    static PLACE: Shared<u32> = Shared::new(0);
    static LENGTH: AtomicU32 = AtomicU32::new(0);
    static LOCK: Mutex<()> = Mutex::new(());
    LENGTH.store(input().len() as u32, Ordering::SeqCst); // what was said
    let other = thread::spawn(move || {
        if LENGTH.load(Ordering::SeqCst) > 0 {
            drop(LOCK.lock().unwrap());
        }
        PLACE.set(1);
    });
    PLACE.set(2);
    other.join().unwrap();
}

/// Three scoped threads that nobody joins one by one; races among them, and one with what comes after the scope.
fn scope() {
    static FIRST: Shared<u32> = Shared::new(0);
    static LAST: Shared<u32> = Shared::new(0);
    static TURNS: Mutex<u32> = Mutex::new(0);
    let outside = thread::spawn(|| LAST.set(1));
    thread::scope(|scope| {
        for number in 1..=3 {
            scope.spawn(move || {
                *TURNS.lock().unwrap() += number;
                FIRST.set(number);
            });
        }
    });
    LAST.set(2);
    outside.join().unwrap();
}

/// A race of a thread that has a lock to itself with one that shares another, which a writer has become.
fn rwlock() {
    static PLACE: Shared<u32> = Shared::new(0);
    static ONE: RwLock<u32> = RwLock::new(0);
    static OTHER: RwLock<u32> = RwLock::new(0);
    let writer = thread::spawn(|| {
        let mut one = ONE.write().unwrap();
        *one += 1;
        PLACE.set(1);
    });
    let other = RwLockWriteGuard::downgrade(OTHER.write().unwrap());
    PLACE.set(2);
    drop(other);
    writer.join().unwrap();
}

/// Does nothing that racelog sees, for ever.
fn spin() {
    thread::spawn(|| ()).join().unwrap();
    loop {
        std::hint::spin_loop();
    }
}

/// Waits for a flag that nobody raises.
fn livelock() {
    static FLAG: AtomicU32 = AtomicU32::new(0);
    while FLAG.load(Ordering::Relaxed) == 0 {}
}

/// What the standard input says.
fn input() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    line.trim().to_owned()
}

/// Whether the time is not later than that in the file, which then has the time.
fn is_first_time(file: &str) -> bool {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
    let last = std::fs::read_to_string(file).ok().and_then(|text| text.parse().ok());
    std::fs::write(file, now.to_string()).unwrap();
    last.is_none_or(|last: u128| now <= last)
}

/// A race, with or without a lock before it: on purpose, that depends on more than the schedule.
fn two_ways(locks: bool) {
    static PLACE: Shared<u32> = Shared::new(0);
    static LOCK: Mutex<()> = Mutex::new(());
    let other = thread::spawn(move || {
        if locks {
            drop(LOCK.lock().unwrap()); // the ordinary way
        }
        PLACE.set(1);
    });
    PLACE.set(2);
    other.join().unwrap();
}
