//! Sets of locks, each kept once.

use racelog::trace::LockId;
use rustc_hash::FxHashMap;

/// A set of locks, each held exclusively or shared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocksetId(u32);

impl LocksetId {
    /// No locks.
    pub const EMPTY: Self = Self(0);
}

/// A lock, and how it is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct HeldLock {
    pub(super) lock: LockId,
    pub(super) exclusive: bool,
}

/// Sets of locks. Equal sets have equal ids.
#[derive(Debug)]
pub struct Locksets {
    sets: Vec<Box<[HeldLock]>>,
    ids: FxHashMap<Box<[HeldLock]>, LocksetId>,
    /// Kept so that to look for a set need not allocate.
    scratch: Vec<HeldLock>,
}

impl Locksets {
    /// The empty set alone.
    pub(super) fn new() -> Self {
        let empty: Box<[HeldLock]> = Box::default();
        Self {
            sets: vec![empty.clone()],
            ids: FxHashMap::from_iter([(empty, LocksetId::EMPTY)]),
            scratch: Vec::new(),
        }
    }

    /// The set of these locks, which are sorted; some may stand there twice.
    pub(super) fn intern(&mut self, held: &[HeldLock]) -> LocksetId {
        self.scratch.clear();
        self.scratch.extend_from_slice(held);
        self.scratch.dedup();
        if let Some(id) = self.ids.get(&*self.scratch) {
            return *id;
        }
        let id = LocksetId(self.sets.len() as u32);
        self.sets.push(self.scratch.clone().into_boxed_slice());
        self.ids.insert(self.scratch.clone().into_boxed_slice(), id);
        id
    }

    /// The locks of a set, in order, and whether each is held exclusively.
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
