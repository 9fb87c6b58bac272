//! Which locks threads hold.

use racelog::trace::{LockId, ThreadId};
use rustc_hash::FxHashMap;

use crate::trace::Op;

/// A set of locks, each held exclusively or shared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocksetId(u32);

impl LocksetId {
    /// No locks.
    pub const EMPTY: Self = Self(0);
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Held {
    lock: LockId,
    exclusive: bool,
}

/// Follows which locks the threads of a trace hold. Equal sets have equal ids.
#[derive(Debug)]
pub struct Locksets {
    /// What each thread holds, in order; what it holds twice stands there twice.
    held: Vec<Vec<Held>>,
    current: Vec<LocksetId>,
    sets: Vec<Box<[Held]>>,
    ids: FxHashMap<Box<[Held]>, LocksetId>,
    /// Kept so that a step need not allocate.
    scratch: Vec<Held>,
}

impl Locksets {
    /// Nobody holds anything.
    pub fn new(threads: usize) -> Self {
        let empty: Box<[Held]> = Box::default();
        Self {
            held: vec![Vec::new(); threads],
            current: vec![LocksetId::EMPTY; threads],
            sets: vec![empty.clone()],
            ids: FxHashMap::from_iter([(empty, LocksetId::EMPTY)]),
            scratch: Vec::new(),
        }
    }

    /// A thread does something.
    pub fn step(&mut self, thread: ThreadId, op: &Op) {
        let (lock, exclusive, taken) = match *op {
            Op::Acquire(lock) | Op::Wake { lock, .. } | Op::WakeTimeout { lock, .. } => {
                (lock, true, true)
            }
            Op::ReadAcquire(lock) => (lock, false, true),
            Op::Release(lock) | Op::Wait { lock, .. } => (lock, true, false),
            Op::ReadRelease(lock) => (lock, false, false),
            _ => return,
        };
        let held = &mut self.held[thread.index()];
        let changed = Held { lock, exclusive };
        match held.binary_search(&changed) {
            Ok(at) | Err(at) if taken => held.insert(at, changed),
            Ok(at) => drop(held.remove(at)),
            Err(_) => {}
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(held);
        self.scratch.dedup();
        self.current[thread.index()] = match self.ids.get(&*self.scratch) {
            Some(id) => *id,
            None => {
                let id = LocksetId(self.sets.len() as u32);
                self.sets.push(self.scratch.clone().into_boxed_slice());
                self.ids.insert(self.scratch.clone().into_boxed_slice(), id);
                id
            }
        };
    }

    /// What a thread holds.
    pub fn of(&self, thread: ThreadId) -> LocksetId {
        self.current[thread.index()]
    }

    /// The locks of a set, and whether each is held exclusively.
    pub fn locks(&self, set: LocksetId) -> impl Iterator<Item = (LockId, bool)> {
        self.sets[set.0 as usize].iter().map(|held| (held.lock, held.exclusive))
    }

    /// Whether two threads can never hold these sets at one time: some lock is in both, and at
    /// least one of them holds it exclusively.
    pub fn exclude(&self, a: LocksetId, b: LocksetId) -> bool {
        let (a, b) = (&self.sets[a.0 as usize], &self.sets[b.0 as usize]);
        a.iter().any(|mine| {
            b.iter().any(|other| mine.lock == other.lock && (mine.exclusive || other.exclusive))
        })
    }
}
