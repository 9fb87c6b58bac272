//! Programs whose races depend on how waits end, and on who is woken: `waits NAME [NUMBER]`.

use std::process::ExitCode;
use std::time::Duration;

use racelog::cell::Shared;
use racelog::crossbeam::channel;
use racelog::sync::{Arc, Barrier, Condvar, Mutex, MutexGuard, mpsc};
use racelog::{parking_lot, thread};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let number = args.next().and_then(|word| word.parse().ok()).unwrap_or(1);
    match &*name {
        "whom" => whom(),
        "mix" => mix(number),
        _ => {
            eprintln!("there is no program `{name}`");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Two threads wait, the second of which writes what the main thread reads between two
/// notifications: a race only if the first notification goes to the second.
fn whom() {
    static PLACE: Shared<u32> = Shared::new(0);
    let hall = Arc::new((Mutex::new(0), Condvar::new()));
    let enter = |writes: bool| {
        let hall = hall.clone();
        thread::spawn(move || {
            let mut waiting = hall.0.lock().unwrap();
            *waiting += 1;
            drop(hall.1.wait(waiting).unwrap());
            if writes {
                PLACE.set(1);
            }
        })
    };
    let wait_for = |many| {
        while *hall.0.lock().unwrap() < many {
            thread::yield_now();
        }
    };
    let first = enter(false);
    wait_for(1);
    let second = enter(true);
    wait_for(2);
    hall.1.notify_one();
    PLACE.get();
    hall.1.notify_one();
    first.join().unwrap();
    second.join().unwrap();
}

const THREADS: usize = 5;
const ROUNDS: usize = 12;

/// What the threads of [`mix`] share.
struct Objects {
    cells: [Shared<u32>; 3],
    hall: (Mutex<u32>, Condvar),
    lobby: (parking_lot::Mutex<u32>, parking_lot::Condvar),
    lock: parking_lot::RwLock<u32>,
    /// Channels of std without bound, and for one message.
    senders: (mpsc::Sender<u32>, mpsc::SyncSender<u32>),
    receivers: Mutex<(mpsc::Receiver<u32>, mpsc::Receiver<u32>)>,
    /// Channels of crossbeam, where all may receive, and the last has to be met.
    channels: [(channel::Sender<u32>, channel::Receiver<u32>); 3],
    offering: Mutex<()>,
    handles: Mutex<Vec<thread::Thread>>,
}

/// Threads that wait in all ways, each for a short while. The number decides what each of them
/// does, and nothing else does.
fn mix(number: u64) {
    let (sender, receiver) = mpsc::channel();
    let (bounded, from_bounded) = mpsc::sync_channel(1);
    let objects = Arc::new(Objects {
        cells: [const { Shared::new(0) }; 3],
        hall: (Mutex::new(0), Condvar::new()),
        lobby: (parking_lot::Mutex::new(0), parking_lot::Condvar::new()),
        lock: parking_lot::RwLock::new(0),
        senders: (sender, bounded),
        receivers: Mutex::new((receiver, from_bounded)),
        channels: [channel::unbounded(), channel::bounded(1), channel::bounded(0)],
        offering: Mutex::default(),
        handles: Mutex::default(),
    });
    let start = Arc::new(Barrier::new(THREADS));
    let threads = (0..THREADS).map(|id| {
        let (objects, start) = (objects.clone(), start.clone());
        let mut rng = ChaCha8Rng::seed_from_u64(number * 100 + id as u64);
        thread::spawn(move || {
            objects.handles.lock().unwrap().push(thread::current());
            start.wait();
            for _ in 0..ROUNDS {
                objects.act(&mut rng);
            }
        })
    });
    let threads: Vec<_> = threads.collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

impl Objects {
    /// Does something to one of the objects.
    fn act(&self, rng: &mut ChaCha8Rng) {
        // Longer and shorter than what others take in the meantime.
        let time = Duration::from_micros(rng.random_range(1..60));
        let (one, kind) = (rng.random_range(0..3), rng.random_range(0..20));
        let cell = &self.cells[one];
        match kind {
            0..4 => cell.set(kind),
            4..6 => _ = cell.get(),
            6..9 => self.in_hall(kind, time),
            9..12 => self.in_lobby(kind, time),
            12 => thread::park_timeout(time),
            13 => {
                let handle = self.handles.lock().unwrap()[one].clone();
                handle.unpark();
            }
            14 => self.receive(one, time),
            15 => match one {
                0 => self.senders.0.send(1).unwrap(),
                _ => _ = self.senders.1.try_send(1),
            },
            16 if one == 2 => {
                // One offer at a time: only the first of several can be recorded as taken back.
                let _turn = self.offering.lock().unwrap();
                _ = self.channels[one].0.send_timeout(1, time);
            }
            16 => _ = self.channels[one].0.send_timeout(1, time),
            17 => _ = self.channels[one].1.recv_timeout(time),
            18 => self.try_lock(one, time),
            _ => thread::sleep(time),
        }
    }

    fn in_hall(&self, kind: u32, time: Duration) {
        let (lock, condvar) = &self.hall;
        let mut guests: MutexGuard<'_, u32> = lock.lock().unwrap();
        *guests += 1;
        match kind {
            6 => condvar.notify_one(),
            7 => *condvar.wait_timeout(guests, time).unwrap().0 += 1,
            _ => {
                let waited = condvar.wait_timeout_while(guests, time, |guests| *guests % 3 > 0);
                if waited.unwrap().1.timed_out() {
                    condvar.notify_all();
                }
            }
        }
    }

    fn in_lobby(&self, kind: u32, time: Duration) {
        let (lock, condvar) = &self.lobby;
        let Some(mut guests) = lock.try_lock_for(time) else { return };
        *guests += 1;
        match kind {
            9 => _ = condvar.notify_one(),
            10 => _ = condvar.wait_for(&mut guests, time),
            _ => _ = condvar.wait_while_for(&mut guests, |guests| *guests % 2 > 0, time),
        }
    }

    fn receive(&self, one: usize, time: Duration) {
        let receivers = self.receivers.lock().unwrap();
        _ = match one {
            0 => receivers.0.recv_timeout(time),
            _ => receivers.1.recv_timeout(time),
        };
    }

    fn try_lock(&self, one: usize, time: Duration) {
        match one {
            0 => _ = self.lock.try_read_for(time).map(|value| *value),
            1 => _ = self.lock.try_write_for(time).map(|mut value| *value += 1),
            _ => _ = self.lock.try_upgradable_read_for(time).map(|value| *value),
        }
    }
}
