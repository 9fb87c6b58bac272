//! Plain accesses that later ones refer to: in a loop, most reads and writes take two bytes each.

use rustc_hash::FxHashMap;

use super::code;
use super::primitive::Malformed;
use crate::trace::{LocId, Op, Value, VarId};

/// How many accesses a chunk can keep at a time.
pub(crate) const SLOTS: usize = 256;

/// The first byte of a plain access that is kept.
#[inline(always)]
pub(crate) const fn kept_code(write: bool) -> u8 {
    if write { code::KEPT_WRITE } else { code::KEPT_READ }
}

/// What stands for no difference between two values; the difference is added to it.
const SAME: u8 = 64;

/// What stands for an access that is made again and has the same value as the last one: from the
/// low bits up, seven of the slot, a one that says what it is, seven for how far the value is from
/// that one's, and the last one of the slot. A difference can be added to the high byte.
pub(crate) const fn again(slot: usize) -> u16 {
    let low = code::AGAIN | (slot & 127) as u8;
    let high = SAME | (slot >> 7 << 7) as u8;
    u16::from_le_bytes([low, high])
}

/// The slot and the difference, which is added to [`SAME`], of an access that is made again.
pub(super) const fn slot_and_step(low: u8, high: u8) -> (usize, u8) {
    ((low & 127) as usize | (high & 128) as usize, high & 127)
}

/// The difference between two small numbers, if it is one that can be written.
#[inline(always)]
pub(crate) fn step_between(from: i64, to: i64) -> Option<i8> {
    // Were there an overflow, one of them would not be small.
    let step = to.wrapping_sub(from);
    (step.wrapping_add(i64::from(SAME)) as u64 <= 127).then_some(step as i8)
}

/// A value as a small number: one whose difference to any other is not mistaken for another
/// difference. Any number for what is not recorded.
#[inline(always)]
pub(crate) fn small_number(value: Value) -> Option<i64> {
    match value {
        Value::Nat(number) => i64::try_from(number).ok(),
        Value::Neg(number) => i64::try_from(number).ok().filter(|number| *number >= i64::MIN / 2),
        Value::Opaque => Some(0),
        Value::Symbol(_) => None,
    }
}

/// A plain access that later ones can refer to: those at the same place of the same variable, each
/// the next event of its thread by its stamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kept {
    pub(super) location: Option<LocId>,
    pub(super) recorded: bool,
    pub(super) write: bool,
    pub(super) var: VarId,
}

impl Kept {
    /// The access that an operation is, and its value, if it is a plain one.
    #[inline]
    pub(super) fn of(op: &Op, location: Option<LocId>, recorded: bool) -> Option<(Self, Value)> {
        let (write, var, value) = match *op {
            Op::Read { var, value } => (false, var, value),
            Op::Write { var, value } => (true, var, value),
            _ => return None,
        };
        Some((Self { location, recorded, write, var }, value))
    }

    /// The operation, with this value.
    pub(super) fn op(&self, value: Value) -> Op {
        let var = self.var;
        if self.write { Op::Write { var, value } } else { Op::Read { var, value } }
    }
}

/// The value that is so far from another.
fn value_after(value: Value, step: u8) -> Result<Value, Malformed> {
    let step = i128::from(step) - i128::from(SAME);
    let number = match value {
        value if step == 0 => return Ok(value),
        Value::Nat(number) => i128::try_from(number).map_err(|_| Malformed)?,
        Value::Neg(number) => number,
        Value::Opaque | Value::Symbol(_) => return Err(Malformed),
    };
    number.checked_add(step).map(Value::int).ok_or(Malformed)
}

/// How far a value is from another, if that can be said in a byte.
fn step_to(from: Value, to: Value) -> Option<u8> {
    if from == to {
        return Some(SAME);
    }
    let is_number = |value| matches!(value, Value::Nat(_) | Value::Neg(_));
    (is_number(from) && is_number(to)).then_some(())?;
    let step = step_between(small_number(from)?, small_number(to)?)?;
    Some(SAME.wrapping_add_signed(step))
}

/// How a plain access is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// In full, and nothing will refer to it.
    Full,
    /// In full, and kept in this slot.
    Kept(usize),
    /// By these bytes, as one that is kept.
    Again([u8; 2]),
}

/// The accesses of a chunk that are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    /// Empty until there is one.
    kept: Vec<Option<Kept>>,
    /// What each variable had at its last access that was kept or referred to another.
    values: FxHashMap<VarId, Value>,
}

impl Slots {
    /// Finds the shortest form for an access. What is kept stays, for the slot would otherwise be
    /// taken in turns and of no use to anybody.
    pub(super) fn form(&mut self, access: Kept, value: Value) -> Form {
        let place = access.location.map_or(0, |id| id.get() as usize + 1);
        let slot = (place * 2 + usize::from(access.write)) % SLOTS;
        let kept = *self.slot(slot);
        if kept.is_some_and(|kept| kept != access) {
            return Form::Full;
        }
        *self.slot(slot) = Some(access);
        let before = self.values.insert(access.var, value);
        match before.and_then(|before| step_to(before, value)).filter(|_| kept.is_some()) {
            Some(step) => {
                let [low, high] = again(slot).to_le_bytes();
                Form::Again([low, high - SAME + step])
            }
            None => Form::Kept(slot),
        }
    }

    /// Keeps an access.
    pub(super) fn keep(&mut self, slot: usize, access: Kept, value: Value) {
        *self.slot(slot) = Some(access);
        self.values.insert(access.var, value);
    }

    /// The access that is like the one in a slot, of a value this far from the one that the
    /// variable had.
    pub(super) fn again(&mut self, slot: usize, step: u8) -> Result<(Kept, Value), Malformed> {
        let access = self.kept.get(slot).copied().flatten().ok_or(Malformed)?;
        let value = self.values.get_mut(&access.var).ok_or(Malformed)?;
        *value = value_after(*value, step)?;
        Ok((access, *value))
    }

    fn slot(&mut self, slot: usize) -> &mut Option<Kept> {
        if self.kept.is_empty() {
            self.kept.resize(SLOTS, None);
        }
        &mut self.kept[slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_and_steps_come_back() {
        for slot in 0..SLOTS {
            for step in [-64i8, -1, 0, 1, 63] {
                let bytes = again(slot).wrapping_add((step as u16) << 8).to_le_bytes();
                assert!(bytes[0] >= code::AGAIN);
                let apart = slot_and_step(bytes[0], bytes[1]);
                assert_eq!(apart, (slot, SAME.wrapping_add_signed(step)));
            }
        }
    }

    #[test]
    fn values_near_another_come_back_and_others_have_no_step() {
        let ends = [i128::from(i64::MIN), i128::from(i64::MAX), 1 << 63, 1 << 64, -(1 << 70)];
        let numbers: Vec<i128> = ends
            .into_iter()
            .flat_map(|end| end - 200..end + 200)
            .chain(-300..300)
            .chain([i128::MIN, i128::MAX])
            .collect();
        let mut steps = 0;
        for from in &numbers {
            for to in &numbers {
                let from = Value::int(*from);
                let Some(step) = step_to(from, Value::int(*to)) else { continue };
                assert_eq!(value_after(from, step), Ok(Value::int(*to)), "{from:?} to {to}");
                steps += 1;
            }
        }
        assert!(steps > 80_000, "{steps}");
        assert_eq!(step_to(Value::Opaque, Value::Opaque), Some(SAME));
        assert_eq!(step_to(Value::Opaque, Value::Nat(0)), None);
        assert_eq!(value_after(Value::Opaque, SAME + 1), Err(Malformed));
        assert_eq!(value_after(Value::Nat(u128::MAX), SAME + 1), Err(Malformed));
        assert_eq!(value_after(Value::int(i128::MIN), SAME - 1), Err(Malformed));
    }
}
