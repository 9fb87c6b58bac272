//! Values as ids: equal ids, equal values.

use std::sync::{PoisonError, RwLock};

use racelog::trace::Value;
use rustc_hash::FxHashMap;

use super::EventId;
use super::low_keys::LowKeys;

/// A value of a loaded trace.
///
/// Every concrete value has one id. Every opaque write has one of its own, and an opaque read has
/// the id of the write that it saw: so comparing ids is comparing values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ValueId(u32);

/// Ids with this bit stand for what an event wrote; the others for entries of the table.
const WRITTEN: u32 = 1 << 31;

/// The values of a trace.
#[derive(Debug, Default)]
pub struct Values {
    table: Vec<Value>,
    /// The ids of small numbers.
    small: LowKeys,
    /// The ids of all other values.
    ids: FxHashMap<Value, ValueId>,
    /// Values that the trace does not have and executions compute. Their ids come after those of
    /// the table, in the order in which they were first met.
    computed: RwLock<Computed>,
}

/// Values that executions compute.
#[derive(Debug, Default)]
struct Computed {
    values: Vec<Value>,
    ids: FxHashMap<Value, ValueId>,
}

impl ValueId {
    /// The id of no value: it would stand for what an event wrote that no trace reaches.
    pub const NONE: Self = Self(u32::MAX);
}

impl Values {
    /// The id of a concrete value.
    pub(super) fn concrete(&mut self, value: Value) -> ValueId {
        debug_assert_ne!(value, Value::Opaque, "opaque values are not equal to one another");
        if let Value::Nat(number) = value
            && let Ok(number) = usize::try_from(number)
            && let Some(id) = self.small.get(number)
        {
            return ValueId(id);
        }
        self.hashed(value)
    }

    fn hashed(&mut self, value: Value) -> ValueId {
        if let Some(id) = self.ids.get(&value) {
            return *id;
        }
        let id = self.fresh(value);
        let number = match value {
            Value::Nat(number) => usize::try_from(number).ok(),
            _ => None,
        };
        if !number.is_some_and(|number| self.small.insert(number, id.0, self.table.len())) {
            self.ids.insert(value, id);
        }
        id
    }

    /// The id of a concrete value that an execution of the loaded trace computes.
    pub fn computed(&self, value: Value) -> ValueId {
        let small = match value {
            Value::Nat(number) => usize::try_from(number).ok().and_then(|at| self.small.get(at)),
            _ => None,
        };
        let known = small.map(ValueId);
        if let Some(id) = known.or_else(|| self.ids.get(&value).copied()) {
            return id;
        }
        let read = |computed: &Computed| computed.ids.get(&value).copied();
        if let Some(id) = read(&self.computed.read().unwrap_or_else(PoisonError::into_inner)) {
            return id;
        }
        let mut computed = self.computed.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = read(&computed) {
            return id;
        }
        let id = ValueId((self.table.len() + computed.values.len()) as u32);
        debug_assert!(id.0 & WRITTEN == 0, "fewer values than operands");
        computed.values.push(value);
        computed.ids.insert(value, id);
        id
    }

    /// Whether this is the id of a concrete value.
    pub(super) fn is(&self, id: ValueId, value: Value) -> bool {
        self.table.get(id.0 as usize) == Some(&value)
    }

    /// The id of an opaque initial value.
    pub(super) fn opaque_initial(&mut self) -> ValueId {
        self.fresh(Value::Opaque)
    }

    /// The id of the opaque value that an event wrote.
    pub(super) fn opaque_written(event: EventId) -> ValueId {
        ValueId(WRITTEN | event.index() as u32)
    }

    /// The value; opaque if it was not recorded.
    pub fn get(&self, id: ValueId) -> Value {
        if id.0 & WRITTEN != 0 {
            return Value::Opaque;
        }
        let place = id.0 as usize;
        self.table.get(place).copied().unwrap_or_else(|| {
            let computed = self.computed.read().unwrap_or_else(PoisonError::into_inner);
            computed.values.get(place - self.table.len()).copied().unwrap_or(Value::Opaque)
        })
    }

    /// The event that wrote an opaque value, unless it is an initial one.
    pub fn writer(&self, id: ValueId) -> Option<EventId> {
        (id.0 & WRITTEN != 0).then(|| EventId::from_index((id.0 & !WRITTEN) as usize))
    }

    fn fresh(&mut self, value: Value) -> ValueId {
        let id = ValueId(u32::try_from(self.table.len()).expect("fewer values than operands"));
        self.table.push(value);
        id
    }
}
