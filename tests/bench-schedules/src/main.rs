//! How many schedules a second racelog and shuttle run of the same bodies, by a random walk:
//! racelog as it is by default, by fibers alone, and by threads alone. The argument is how many
//! schedules of each; the best of twenty rounds counts. All take turns, so that none has the
//! quieter machine.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The bodies, written against `sync` and `thread` of a crate.
macro_rules! bodies {
    ($name:ident, $sync:path, $thread:path) => {
        mod $name {
            use $sync as sync;
            use $thread as thread;

            use sync::atomic::{AtomicUsize, Ordering};
            use sync::{Arc, Condvar, Mutex, mpsc};

            /// Three threads that add to a locked counter.
            pub(crate) fn counter() {
                let counter = Arc::new(Mutex::new(0));
                let threads: Vec<_> = (0..3)
                    .map(|_| {
                        let counter = counter.clone();
                        thread::spawn(move || {
                            for _ in 0..3 {
                                *counter.lock().unwrap() += 1;
                            }
                        })
                    })
                    .collect();
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                assert_eq!(*counter.lock().unwrap(), 9);
            }

            /// Two threads and a queue for one item, with a condvar.
            pub(crate) fn queue() {
                let queue = Arc::new((Mutex::new(None), Condvar::new()));
                let producer = {
                    let queue = queue.clone();
                    thread::spawn(move || {
                        for item in 0..5 {
                            let mut place = queue.0.lock().unwrap();
                            while place.is_some() {
                                place = queue.1.wait(place).unwrap();
                            }
                            *place = Some(item);
                            queue.1.notify_all();
                        }
                    })
                };
                let mut sum = 0;
                for _ in 0..5 {
                    let mut place = queue.0.lock().unwrap();
                    while place.is_none() {
                        place = queue.1.wait(place).unwrap();
                    }
                    sum += place.take().unwrap();
                    queue.1.notify_all();
                }
                producer.join().unwrap();
                assert_eq!(sum, 10);
            }

            /// Two senders, one receiver, and an atomic counter.
            pub(crate) fn channel() {
                let (sender, receiver) = mpsc::channel();
                let sent = Arc::new(AtomicUsize::new(0));
                let threads: Vec<_> = (0..2)
                    .map(|_| {
                        let (sender, sent) = (sender.clone(), sent.clone());
                        thread::spawn(move || {
                            for message in 0..4 {
                                sender.send(message).unwrap();
                                sent.fetch_add(1, Ordering::SeqCst);
                            }
                        })
                    })
                    .collect();
                drop(sender);
                assert_eq!(receiver.iter().sum::<i32>(), 12);
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                assert_eq!(sent.load(Ordering::SeqCst), 8);
            }
        }
    };
}

bodies!(with_racelog, racelog::sync, racelog::thread);
bodies!(with_shuttle, shuttle::sync, shuttle::thread);

const ROUNDS: usize = 20;

/// A body's name, and the body for racelog and for shuttle.
type Body = (&'static str, fn(), fn());

const BODIES: [Body; 3] = [
    ("counter", with_racelog::counter, with_shuttle::counter),
    ("queue", with_racelog::queue, with_shuttle::queue),
    ("channel", with_racelog::channel, with_shuttle::channel),
];

/// How long a round of each takes, at best.
fn best<const N: usize>(runs: [&dyn Fn(); N]) -> [Duration; N] {
    let mut best = [Duration::MAX; N];
    for _ in 0..ROUNDS {
        for (best, run) in best.iter_mut().zip(runs) {
            let begun = Instant::now();
            run();
            *best = begun.elapsed().min(*best);
        }
    }
    best
}

fn main() {
    let schedules = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(5_000);
    println!("            racelog/s    racelog/s    racelog/s    shuttle/s  default /  steps a");
    println!("body          default       fibers      threads                 shuttle schedule");
    for (name, ours, theirs) in BODIES {
        let explorer = racelog::sched::Explorer::new().schedules(schedules);
        let summary = explorer.check(ours).expect("it is right");
        // Threads are slow enough to be timed by fewer schedules.
        let few = schedules.div_ceil(50);
        let check = |explorer: racelog::sched::Explorer| drop(black_box(explorer.check(ours)));
        let [default, fibers, threads, theirs] = best([
            &|| check(explorer.clone()),
            &|| check(explorer.clone().fibers()),
            &|| check(explorer.clone().threads().schedules(few)),
            &|| shuttle::check_random(theirs, schedules),
        ]);
        let rate = |time: Duration, schedules: usize| schedules as f64 / time.as_secs_f64();
        println!(
            "{name:<10} {:>10.0} {:>12.0} {:>12.0} {:>12.0} {:>10.2} {:>8.1}",
            rate(default, schedules),
            rate(fibers, schedules),
            rate(threads, few),
            rate(theirs, schedules),
            rate(default, schedules) / rate(theirs, schedules),
            summary.steps as f64 / summary.schedules as f64,
        );
    }
}
