//! Programs to be recorded: `recorded NAME [NUMBER]`. Each prints how many events of a kind it has
//! done, for comparison with its trace.

use std::process::ExitCode;

use racelog::cell::Shared;
use racelog::sync::{Arc, Condvar, Mutex, RwLock};
use racelog::thread;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let number: usize = args.next().and_then(|word| word.parse().ok()).unwrap_or(10);
    match &*name {
        "mutex" => mutex(number),
        "condvar" => condvar(number),
        "race" => race(),
        "rwlock" => rwlock(number),
        "park" => park(),
        _ => {
            eprintln!("there is no program `{name}`");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn mutex(rounds: usize) {
    let counter = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let counter = counter.clone();
            thread::spawn(move || {
                for _ in 0..rounds {
                    *counter.lock().unwrap() += 1;
                    if let Ok(mut value) = counter.try_lock() {
                        *value += 1;
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", counter.lock().unwrap());
}

fn condvar(rounds: usize) {
    let pair = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..rounds {
                let mut value = pair.0.lock().unwrap();
                while *value == 0 {
                    value = pair.1.wait(value).unwrap();
                }
                *value -= 1;
            }
        });
        for _ in 0..rounds {
            *pair.0.lock().unwrap() += 1;
            pair.1.notify_one();
        }
    });
    println!("{}", pair.0.lock().unwrap());
}

fn race() {
    static SHARED: Shared<u32> = Shared::new(5);
    thread::scope(|scope| {
        scope.spawn(|| SHARED.set(SHARED.get() + 1));
        SHARED.set(7);
    });
    println!("{}", SHARED.get());
}

fn rwlock(rounds: usize) {
    let lock = RwLock::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for round in 0..rounds {
                    if round % 3 == 0 {
                        *lock.write().unwrap() += 1;
                    } else if lock.try_write().is_err() {
                        let _ = *lock.read().unwrap();
                    }
                }
            });
        }
    });
    println!("{}", lock.into_inner().unwrap());
}

fn park() {
    let flag = Mutex::new(false);
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            while !*flag.lock().unwrap() {
                thread::park();
            }
        });
        *flag.lock().unwrap() = true;
        waiter.thread().unpark();
    });
}
