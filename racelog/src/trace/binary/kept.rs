//! Plain accesses that later ones refer to: in a loop, most reads and writes take two bytes each.

use super::code;
use super::primitive::Malformed;
use crate::trace::{LocId, Op, Value, VarId};

/// How many accesses a chunk can keep at a time.
pub(crate) const SLOTS: usize = 128;

/// The first byte of a plain access that is kept.
#[inline(always)]
pub(crate) const fn kept_code(write: bool) -> u8 {
    if write { code::KEPT_WRITE } else { code::KEPT_READ }
}

/// The first byte of an access that is made again.
#[inline(always)]
pub(crate) const fn again_code(slot: usize) -> u8 {
    code::AGAIN | slot as u8
}

/// The byte for the difference between two numbers, if it fits into one.
#[inline(always)]
pub(crate) fn small_step(from: i64, to: i64) -> Option<u8> {
    let (step, overflowed) = to.overflowing_sub(from);
    let folded = (step << 1 ^ step >> 63) as u64;
    (folded <= 255 && !overflowed).then_some(folded as u8)
}

/// A plain access that later ones can refer to: those at the same place of the same variable, each
/// the next event of its thread by its stamp, with a value near that of the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kept {
    pub(super) location: Option<LocId>,
    pub(super) recorded: bool,
    write: bool,
    var: VarId,
    value: Value,
}

impl Kept {
    /// The access that an operation is, if it is a plain one.
    #[inline]
    pub(super) fn of(op: &Op, location: Option<LocId>, recorded: bool) -> Option<Self> {
        let (write, var, value) = match *op {
            Op::Read { var, value } => (false, var, value),
            Op::Write { var, value } => (true, var, value),
            _ => return None,
        };
        Some(Self { location, recorded, write, var, value })
    }

    pub(super) fn op(&self) -> Op {
        let Self { var, value, .. } = *self;
        if self.write { Op::Write { var, value } } else { Op::Read { var, value } }
    }

    fn is_like(&self, other: &Self) -> bool {
        Self { value: other.value, ..*self } == *other
    }

    /// The value that is so far from this one.
    fn value_at(&self, folded: u8) -> Result<Value, Malformed> {
        let step = i128::from(folded >> 1) ^ -i128::from(folded & 1);
        let number = match self.value {
            value if step == 0 => return Ok(value),
            Value::Nat(number) => i128::try_from(number).map_err(|_| Malformed)?,
            Value::Neg(number) => number,
            Value::Opaque | Value::Symbol(_) => return Err(Malformed),
        };
        number.checked_add(step).map(Value::int).ok_or(Malformed)
    }

    /// How far another value is from this one, if that can be said in a byte.
    fn step_to(&self, value: Value) -> Option<u8> {
        if self.value == value {
            return Some(0);
        }
        small_step(small_number(self.value)?, small_number(value)?)
    }
}

fn small_number(value: Value) -> Option<i64> {
    match value {
        Value::Nat(number) => i64::try_from(number).ok(),
        Value::Neg(number) => i64::try_from(number).ok(),
        Value::Opaque | Value::Symbol(_) => None,
    }
}

/// How a plain access is written.
pub(super) enum Form {
    /// In full, and nothing will refer to it.
    Full,
    /// In full, and kept in this slot.
    Kept(usize),
    /// As the one in this slot, with the value this far from that one's.
    Again(usize, u8),
}

/// The accesses of a chunk that are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots(Vec<Option<Kept>>);

impl Slots {
    /// Finds the shortest form for an access. What is kept stays until an access of the same place
    /// has another value, or the slot would never be used again.
    pub(super) fn form(&mut self, access: Kept) -> Form {
        let place = access.location.map_or(0, |id| id.get() as usize + 1);
        let number = (place * 2 + usize::from(access.write)) % SLOTS;
        let slot = self.slot(number);
        match *slot {
            Some(kept) if !kept.is_like(&access) => Form::Full,
            kept => {
                *slot = Some(access);
                let step = kept.and_then(|kept| kept.step_to(access.value));
                step.map_or(Form::Kept(number), |step| Form::Again(number, step))
            }
        }
    }

    /// Keeps an access.
    pub(super) fn keep(&mut self, slot: usize, access: Option<Kept>) {
        *self.slot(slot) = access;
    }

    /// The access that is like the kept one, with the value this far from that one's.
    pub(super) fn again(&mut self, slot: usize, step: u8) -> Result<Kept, Malformed> {
        let kept = self.0.get_mut(slot).and_then(Option::as_mut).ok_or(Malformed)?;
        kept.value = kept.value_at(step)?;
        Ok(*kept)
    }

    fn slot(&mut self, slot: usize) -> &mut Option<Kept> {
        if self.0.is_empty() {
            self.0.resize(SLOTS, None);
        }
        &mut self.0[slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_near_the_kept_one_come_back_and_others_have_no_step() {
        let kept = |value| {
            let op = Op::Read { var: VarId::new(1), value };
            Kept::of(&op, None, false).unwrap()
        };
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
                let kept = kept(Value::int(*from));
                let Some(step) = kept.step_to(Value::int(*to)) else { continue };
                assert_eq!(kept.value_at(step), Ok(Value::int(*to)), "{from} to {to}");
                steps += 1;
            }
        }
        assert!(steps > 200_000, "{steps}");
        assert_eq!(kept(Value::Opaque).step_to(Value::Opaque), Some(0));
        assert_eq!(kept(Value::Opaque).step_to(Value::Nat(0)), None);
        assert_eq!(kept(Value::Opaque).value_at(1), Err(Malformed));
        assert_eq!(kept(Value::Nat(u128::MAX)).value_at(1), Err(Malformed));
        assert_eq!(kept(Value::int(i128::MIN)).value_at(1), Err(Malformed));
    }
}
