//! Which object of the file each object of the loaded trace is.

use racelog::trace::{BarrierId, ChannelId, CondvarId, LockId, Object, ThreadId, Value, VarId};
use rustc_hash::FxHashMap;

use super::low_keys::LowKeys;
use super::translate::Translate;
use super::{ValueId, Values};

/// Numbers without gaps for numbers that may have some.
#[derive(Clone, Debug, Default)]
pub(super) struct Renumbering {
    originals: Vec<u32>,
    /// The numbers of small originals.
    low: LowKeys,
    /// The numbers of all other originals.
    high: FxHashMap<u32, u32>,
}

impl Renumbering {
    pub(super) fn len(&self) -> usize {
        self.originals.len()
    }

    #[inline]
    pub(super) fn number(&mut self, original: u32) -> u32 {
        match self.low.get(original as usize) {
            Some(number) => number,
            None => self.hashed(original),
        }
    }

    fn hashed(&mut self, original: u32) -> u32 {
        if let Some(number) = self.high.get(&original) {
            return *number;
        }
        let number = self.originals.len() as u32;
        self.originals.push(original);
        if !self.low.insert(original as usize, number, self.originals.len()) {
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

macro_rules! objects {
    ($($Object:ident $one:ident in $all:ident: $Id:ident,)*) => {
        impl Originals {
            $(fn $one(&self, id: $Id) -> $Id {
                $Id::new(self.$all.original(id.get()))
            })*

            pub(super) fn object(&self, object: Object) -> Object {
                match object {
                    $(Object::$Object(id) => Object::$Object(self.$one(id)),)*
                }
            }
        }
    };
}

objects! {
    Thread thread in threads: ThreadId,
    Var var in vars: VarId,
    Lock lock in locks: LockId,
    Condvar condvar in condvars: CondvarId,
    Channel channel in channels: ChannelId,
    Barrier barrier in barriers: BarrierId,
}

/// Translates back to what stood in the file.
pub(super) struct ToOriginals<'a> {
    pub(super) originals: &'a Originals,
    pub(super) values: &'a Values,
}

impl Translate<ValueId, Value> for ToOriginals<'_> {
    fn thread(&mut self, id: ThreadId) -> ThreadId {
        self.originals.thread(id)
    }

    fn var(&mut self, id: VarId) -> VarId {
        self.originals.var(id)
    }

    fn lock(&mut self, id: LockId) -> LockId {
        self.originals.lock(id)
    }

    fn condvar(&mut self, id: CondvarId) -> CondvarId {
        self.originals.condvar(id)
    }

    fn channel(&mut self, id: ChannelId) -> ChannelId {
        self.originals.channel(id)
    }

    fn barrier(&mut self, id: BarrierId) -> BarrierId {
        self.originals.barrier(id)
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
