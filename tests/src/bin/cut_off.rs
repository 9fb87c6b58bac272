//! A program without races that is made to be cut off: `cut_off HOW SEED ROUNDS`.
//!
//! Threads that come and go share locks, atomics, cells and channels in all ways that the recorder
//! has a path of its own for. After so many rounds of its first thread the program ends by `abort`,
//! by `exit` or, if it is to `wait`, when somebody kills it; the other threads are in the middle of
//! things then.

use std::process::ExitCode;
use std::time::Duration;

use racelog::cell::Shared;
use racelog::parking_lot;
use racelog::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use racelog::sync::mpsc::{self, Receiver, Sender, SyncSender};
use racelog::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock};
use racelog::thread;

const WORKERS: usize = 4;
const LOCKS: usize = 3;

/// A cell that goes from thread to thread.
type Parcel = Arc<Shared<u64>>;

#[derive(Default)]
struct World {
    /// Each guards the cell with its number.
    locks: [Mutex<u64>; LOCKS],
    cells: [Shared<u64>; LOCKS],
    shared_lock: RwLock<u64>,
    under_shared_lock: Shared<u64>,
    other_lock: parking_lot::Mutex<u64>,
    under_other_lock: Shared<u64>,
    other_shared_lock: parking_lot::RwLock<u64>,
    /// 0 while the cell is empty, 1 while it is full, 2 while somebody has it.
    slot: AtomicUsize,
    in_slot: Shared<u64>,
    counter: AtomicU64,
    queue: Mutex<Vec<Parcel>>,
    queued: Condvar,
    once: OnceLock<u64>,
}

/// What one thread has besides.
struct Worker<'a> {
    world: &'a World,
    number: usize,
    random: u64,
    own: Shared<u64>,
    outbox: Sender<Parcel>,
    narrow: SyncSender<Parcel>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [how, seed, rounds] = &args[..] else {
        eprintln!("usage: cut_off abort|exit|wait SEED ROUNDS");
        return ExitCode::FAILURE;
    };
    let (Ok(seed), Ok(rounds)) = (seed.parse::<u64>(), rounds.parse::<u64>()) else {
        eprintln!("seed and rounds are numbers");
        return ExitCode::FAILURE;
    };
    let world: &World = Box::leak(Box::default());
    let (outbox, inbox) = mpsc::channel();
    let (narrow, wide) = mpsc::sync_channel(2);
    let barrier: &Barrier = Box::leak(Box::new(Barrier::new(WORKERS + 1)));
    let worker = move |number: usize| Worker {
        world,
        number,
        random: (seed << 8 | number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        own: Shared::new(0),
        outbox: outbox.clone(),
        narrow: narrow.clone(),
    };
    let mut first = worker(0);
    for number in 1..=WORKERS {
        let mut worker = worker(number);
        thread::spawn(move || {
            barrier.wait();
            loop {
                worker.round();
            }
        });
    }
    thread::spawn(move || open_parcels(&inbox));
    thread::spawn(move || open_parcels(&wide));
    barrier.wait();
    let rounds = if how == "wait" { u64::MAX } else { rounds };
    for _ in 0..rounds {
        first.round();
    }
    match &**how {
        "abort" => std::process::abort(),
        // The others go on while the process ends.
        _ => std::process::exit(0),
    }
}

fn open_parcels(inbox: &Receiver<Parcel>) {
    for parcel in inbox {
        parcel.set(parcel.get() + 1);
    }
}

/// Uses a cell often enough to make it the thread's own, or not.
fn use_cell(cell: &Shared<u64>, times: u64) {
    for _ in 0..times {
        cell.set(cell.get() + 1);
    }
}

impl Worker<'_> {
    /// A number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % end
    }

    fn round(&mut self) {
        let world = self.world;
        let times = [1, 2, 2, 3, 1, 2, 3, 90][self.below(8) as usize];
        let at = self.below(LOCKS as u64) as usize;
        match self.below(16) {
            0 | 1 => {
                let mut guard = world.locks[at].lock().unwrap();
                use_cell(&world.cells[at], times);
                *guard += 1;
            }
            2 => {
                if let Ok(guard) = world.locks[at].try_lock() {
                    use_cell(&world.cells[at], times + *guard % 2);
                }
            }
            3 => {
                let guard = world.shared_lock.read().unwrap();
                self.own.set(world.under_shared_lock.get() + *guard);
            }
            4 => {
                let mut guard = world.shared_lock.write().unwrap();
                use_cell(&world.under_shared_lock, times);
                *guard += 1;
            }
            5 => {
                if let Ok(mut guard) = world.shared_lock.try_write() {
                    use_cell(&world.under_shared_lock, 1);
                    *guard += 1;
                } else if let Ok(guard) = world.shared_lock.try_read() {
                    self.own.set(world.under_shared_lock.get() + *guard);
                }
            }
            6 => self.other_locks(times),
            7 => self.use_slot(times),
            8 => {
                let parcel = Parcel::default();
                use_cell(&parcel, times);
                let _ = self.outbox.send(parcel);
            }
            9 => {
                let parcel = Parcel::default();
                use_cell(&parcel, times);
                if let Err(error) = self.narrow.try_send(parcel) {
                    drop(error);
                }
            }
            10 => self.give(),
            11 => self.take(),
            12 => use_cell(&self.own, 2 * times),
            13 => self.start_another(times),
            14 => {
                world.counter.fetch_add(1, Ordering::Relaxed);
                let seen = *world.once.get_or_init(|| world.counter.load(Ordering::SeqCst));
                self.own.set(seen);
            }
            _ => {
                let seen = world.counter.load(Ordering::Acquire);
                let next = Ordering::AcqRel;
                let _ = world.counter.compare_exchange(seen, seen + 2, next, Ordering::Relaxed);
                thread::park_timeout(Duration::ZERO);
            }
        }
    }

    fn other_locks(&mut self, times: u64) {
        let world = self.world;
        if world.other_lock.is_locked() {
            self.own.set(1);
        }
        let mut guard = world.other_lock.lock();
        use_cell(&world.under_other_lock, times);
        *guard += 1;
        drop(guard);
        let shared = world.other_shared_lock.upgradable_read();
        if shared.is_multiple_of(3) {
            *parking_lot::RwLockUpgradableReadGuard::upgrade(shared) += 1;
        } else {
            drop(shared);
            if let Some(mut alone) = world.other_shared_lock.try_write() {
                *alone += 1;
            }
        }
    }

    fn use_slot(&mut self, times: u64) {
        let World { slot, in_slot, .. } = self.world;
        for (from, to) in [(0, 1), (1, 0)] {
            let taken = slot.compare_exchange(from, 2, Ordering::Acquire, Ordering::Relaxed);
            if taken.is_ok() {
                use_cell(in_slot, times);
                slot.store(to, Ordering::Release);
            }
        }
    }

    /// Puts a cell where another thread finds it.
    fn give(&mut self) {
        let parcel = Parcel::default();
        parcel.set(self.number as u64);
        self.world.queue.lock().unwrap().push(parcel);
        self.world.queued.notify_one();
    }

    fn take(&mut self) {
        let queue = self.world.queue.lock().unwrap();
        let patience = Duration::from_micros(50);
        let (mut queue, _) = self
            .world
            .queued
            .wait_timeout_while(queue, patience, |queue| queue.is_empty())
            .unwrap();
        let parcel = queue.pop();
        drop(queue);
        if let Some(parcel) = parcel {
            use_cell(&parcel, 2);
        }
    }

    fn start_another(&mut self, times: u64) {
        let parcel = Parcel::default();
        use_cell(&parcel, times);
        let theirs = parcel.clone();
        let child = thread::spawn(move || use_cell(&theirs, times));
        if child.join().is_ok() {
            use_cell(&parcel, 1);
        }
        let scoped = Shared::new(0);
        thread::scope(|scope| {
            scope.spawn(|| use_cell(&scoped, 2));
        });
        scoped.set(1);
    }
}
