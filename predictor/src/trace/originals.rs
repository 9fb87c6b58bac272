//! Which object of the file each object of the loaded trace is.

use racelog::trace::{BarrierId, ChannelId, CondvarId, LockId, Object, ThreadId, Value, VarId};
use rustc_hash::FxHashMap;

use super::translate::Translate;
use super::{ValueId, Values};

/// Numbers without gaps for numbers that may have some.
#[derive(Clone, Debug, Default)]
pub(super) struct Renumbering {
    originals: Vec<u32>,
    /// The numbers of the first originals, as far as that is worth the room; [`UNSEEN`] for others.
    low: Vec<u32>,
    /// The numbers of all other originals.
    high: FxHashMap<u32, u32>,
}

const UNSEEN: u32 = u32::MAX;

/// Originals below this, or so many times the number of objects, are found without hashing.
const LOW: usize = 1024;
const LOW_PER_OBJECT: usize = 4;

impl Renumbering {
    pub(super) fn len(&self) -> usize {
        self.originals.len()
    }

    #[inline]
    pub(super) fn number(&mut self, original: u32) -> u32 {
        match self.low.get(original as usize) {
            Some(number) if *number != UNSEEN => *number,
            _ => self.hashed(original),
        }
    }

    fn hashed(&mut self, original: u32) -> u32 {
        if let Some(number) = self.high.get(&original) {
            return *number;
        }
        let number = self.originals.len() as u32;
        self.originals.push(original);
        let at = original as usize;
        if at < LOW.max(self.originals.len() * LOW_PER_OBJECT) {
            if at >= self.low.len() {
                self.low.resize(at + 1, UNSEEN);
            }
            self.low[at] = number;
        } else {
            self.high.insert(original, number);
        }
        number
    }

    fn original(&self, number: u32) -> u32 {
        self.originals[number as usize]
    }
}

/// The originals of all objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Originals {
    pub(super) threads: Renumbering,
    pub(super) vars: Renumbering,
    pub(super) locks: Renumbering,
    pub(super) condvars: Renumbering,
    pub(super) channels: Renumbering,
    pub(super) barriers: Renumbering,
}

impl Originals {
    pub(super) fn object(&self, object: Object) -> Object {
        match object {
            Object::Thread(id) => Object::Thread(ThreadId::new(self.threads.original(id.get()))),
            Object::Var(id) => Object::Var(VarId::new(self.vars.original(id.get()))),
            Object::Lock(id) => Object::Lock(LockId::new(self.locks.original(id.get()))),
            Object::Condvar(id) => {
                Object::Condvar(CondvarId::new(self.condvars.original(id.get())))
            }
            Object::Channel(id) => {
                Object::Channel(ChannelId::new(self.channels.original(id.get())))
            }
            Object::Barrier(id) => {
                Object::Barrier(BarrierId::new(self.barriers.original(id.get())))
            }
        }
    }
}

/// Translates back to what stood in the file.
pub(super) struct ToOriginals<'a> {
    pub(super) originals: &'a Originals,
    pub(super) values: &'a Values,
}

impl Translate<ValueId, Value> for ToOriginals<'_> {
    fn thread(&mut self, id: ThreadId) -> ThreadId {
        ThreadId::new(self.originals.threads.original(id.get()))
    }

    fn var(&mut self, id: VarId) -> VarId {
        VarId::new(self.originals.vars.original(id.get()))
    }

    fn lock(&mut self, id: LockId) -> LockId {
        LockId::new(self.originals.locks.original(id.get()))
    }

    fn condvar(&mut self, id: CondvarId) -> CondvarId {
        CondvarId::new(self.originals.condvars.original(id.get()))
    }

    fn channel(&mut self, id: ChannelId) -> ChannelId {
        ChannelId::new(self.originals.channels.original(id.get()))
    }

    fn barrier(&mut self, id: BarrierId) -> BarrierId {
        BarrierId::new(self.originals.barriers.original(id.get()))
    }

    fn found(&mut self, _: VarId, value: ValueId) -> Value {
        self.values.get(value)
    }

    fn left(&mut self, _: VarId, value: ValueId) -> Value {
        self.values.get(value)
    }

    fn message(&mut self, message: ValueId) -> Value {
        self.values.get(message)
    }
}
