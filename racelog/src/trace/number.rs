//! Whole numbers as expressions compute with them: exact, as far as 128 bits go.
//!
//! Rust's typed arithmetic is exact arithmetic and then a type: `a.wrapping_add(b)` of `u8` is
//! `(a + b) as u8`, and a `+` that may panic is `a + b` where `a + b in u8`. So there is one
//! arithmetic for all types. What a result is modulo 2^128 is always known; a result that 128 bits
//! do not hold is known no further, which is enough for both.

use std::cmp::Ordering;

use super::Value;

/// A type of Rust's integers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IntType {
    bits: u8,
    signed: bool,
}

impl IntType {
    /// All of them, with their names. `usize` and `isize` are `u64` and `i64`, or whatever they are
    /// where the program runs.
    pub const ALL: [(&'static str, Self); 10] = [
        ("u8", Self::new(8, false)),
        ("u16", Self::new(16, false)),
        ("u32", Self::new(32, false)),
        ("u64", Self::new(64, false)),
        ("u128", Self::new(128, false)),
        ("i8", Self::new(8, true)),
        ("i16", Self::new(16, true)),
        ("i32", Self::new(32, true)),
        ("i64", Self::new(64, true)),
        ("i128", Self::new(128, true)),
    ];

    const fn new(bits: u8, signed: bool) -> Self {
        Self { bits, signed }
    }

    /// The type of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, int)| *int)
    }

    /// The type of so many bits.
    pub fn of(bits: u32, signed: bool) -> Option<Self> {
        let is_it = |(_, int): &&(&str, Self)| u32::from(int.bits) == bits && int.signed == signed;
        Self::ALL.iter().find(is_it).map(|(_, int)| *int)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, int)| *int == self).map_or("?", |(name, _)| name)
    }

    /// How many bits it has.
    pub const fn bits(self) -> u32 {
        self.bits as u32
    }

    /// Whether it has a sign.
    pub const fn is_signed(self) -> bool {
        self.signed
    }

    /// Its place among all of them.
    pub(crate) fn code(self) -> u8 {
        Self::ALL.iter().position(|(_, int)| *int == self).map_or(0, |place| place as u8)
    }

    pub(crate) fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).map(|(_, int)| *int)
    }
}

/// A whole number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number {
    /// What it is modulo 2^128.
    low: u128,
    range: Range,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Range {
    /// It is `low`.
    Natural,
    /// It is `low` as a signed number, which is negative.
    Negative,
    /// It is neither, and not zero.
    Beyond,
}

impl Number {
    /// Zero.
    pub const ZERO: Self = Self::natural(0);

    const fn natural(low: u128) -> Self {
        Self { low, range: Range::Natural }
    }

    /// One or zero.
    pub const fn truth(holds: bool) -> Self {
        Self::natural(holds as u128)
    }

    /// The number that a value is, if it is one.
    pub const fn of(value: Value) -> Option<Self> {
        match value {
            Value::Nat(number) => Some(Self::natural(number)),
            Value::Neg(number) => Some(Self { low: number as u128, range: Range::Negative }),
            Value::Opaque | Value::Symbol(_) => None,
        }
    }

    /// The value that it is, if 128 bits hold it.
    pub const fn value(self) -> Option<Value> {
        match self.range {
            Range::Natural => Some(Value::Nat(self.low)),
            Range::Negative => Some(Value::Neg(self.low as i128)),
            Range::Beyond => None,
        }
    }

    /// Whether it is not zero.
    pub fn is_true(self) -> bool {
        self != Self::ZERO
    }

    /// Whether it is negative, and how large it is; none if that is not known.
    const fn parts(self) -> Option<(bool, u128)> {
        match self.range {
            Range::Natural => Some((false, self.low)),
            Range::Negative => Some((true, self.low.wrapping_neg())),
            Range::Beyond => None,
        }
    }

    /// The number with these parts, which is `low` modulo 2^128.
    fn of_parts(low: u128, parts: Option<(bool, u128)>) -> Self {
        let range = match parts {
            Some((_, 0) | (false, _)) => Range::Natural,
            Some((true, size)) if size <= 1 << 127 => Range::Negative,
            Some((true, _)) | None => Range::Beyond,
        };
        Self { low, range }
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let parts = self.parts().zip(other.parts()).and_then(|((neg, a), (other_neg, b))| {
            match (neg == other_neg, a >= b) {
                (true, _) => Some((neg, a.checked_add(b)?)),
                (false, true) => Some((neg, a - b)),
                (false, false) => Some((other_neg, b - a)),
            }
        });
        Self::of_parts(self.low.wrapping_add(other.low), parts)
    }

    /// The difference.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        let negated = other.parts().map(|(neg, size)| (!neg, size));
        // What has no negative that 128 bits hold has one in parts.
        let parts = self.parts().zip(negated).and_then(|((neg, a), (other_neg, b))| {
            match (neg == other_neg, a >= b) {
                (true, _) => Some((neg, a.checked_add(b)?)),
                (false, true) => Some((neg, a - b)),
                (false, false) => Some((other_neg, b - a)),
            }
        });
        Self::of_parts(self.low.wrapping_sub(other.low), parts)
    }

    /// The product.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        let parts = self.parts().zip(other.parts());
        let parts =
            parts.and_then(|((neg, a), (other, b))| Some((neg != other, a.checked_mul(b)?)));
        Self::of_parts(self.low.wrapping_mul(other.low), parts)
    }

    /// The quotient, towards zero.
    #[must_use]
    pub fn divided_by(self, other: Self) -> Option<Self> {
        let ((neg, a), (other, b)) = self.parts().zip(other.parts())?;
        let parts = (neg != other, a.checked_div(b)?);
        let low = if parts.0 { parts.1.wrapping_neg() } else { parts.1 };
        Some(Self::of_parts(low, Some(parts)))
    }

    /// What the quotient leaves: it has the sign of this number.
    #[must_use]
    pub fn remainder_by(self, other: Self) -> Option<Self> {
        let ((neg, a), (_, b)) = self.parts().zip(other.parts())?;
        let size = a.checked_rem(b)?;
        let low = if neg { size.wrapping_neg() } else { size };
        Some(Self::of_parts(low, Some((neg, size))))
    }

    /// Bit by bit, in two's complement.
    #[must_use]
    pub fn bits_with(self, other: Self, op: impl Fn(u128, u128) -> u128) -> Self {
        let sign = |number: Self| match number.range {
            Range::Natural => Some(0),
            Range::Negative => Some(u128::MAX),
            Range::Beyond => None,
        };
        let low = op(self.low, other.low);
        let range = match sign(self).zip(sign(other)).map(|(a, b)| op(a, b)) {
            Some(0) => Range::Natural,
            Some(_) if low >> 127 == 1 => Range::Negative,
            Some(_) | None => Range::Beyond,
        };
        Self { low, range }
    }

    /// How many places to shift, if that is any number of places.
    fn places(self) -> Option<u32> {
        let (negative, places) = self.parts()?;
        (!negative).then(|| u32::try_from(places).unwrap_or(u32::MAX))
    }

    /// Shifted to the left.
    #[must_use]
    pub fn shifted_left(self, by: Self) -> Option<Self> {
        let places = by.places()?;
        let low = self.low.checked_shl(places).unwrap_or(0);
        let parts = self.parts().and_then(|(neg, size)| {
            let fits = size == 0 || places <= size.leading_zeros();
            fits.then(|| (neg, size.checked_shl(places).unwrap_or(0)))
        });
        Some(Self::of_parts(low, parts))
    }

    /// Shifted to the right, keeping the sign.
    #[must_use]
    pub fn shifted_right(self, by: Self) -> Option<Self> {
        let places = by.places()?;
        match self.range {
            Range::Natural => Some(Self::natural(self.low.checked_shr(places).unwrap_or(0))),
            Range::Negative => {
                let shifted = (self.low as i128) >> places.min(127);
                Some(Self { low: shifted as u128, range: Range::Negative })
            }
            Range::Beyond => None,
        }
    }

    /// How it compares to another.
    pub fn compared(self, other: Self) -> Option<Ordering> {
        let ((neg, a), (other, b)) = self.parts().zip(other.parts())?;
        Some(match (neg, other) {
            (false, false) => a.cmp(&b),
            (true, true) => b.cmp(&a),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        })
    }

    /// As a type, as `as` has it.
    #[must_use]
    pub fn cast(self, int: IntType) -> Self {
        let unused = 128 - int.bits();
        let low = self.low << unused;
        if !int.signed {
            return Self::natural(low >> unused);
        }
        let low = ((low as i128) >> unused) as u128;
        let range = if low >> 127 == 1 { Range::Negative } else { Range::Natural };
        Self { low, range }
    }

    /// Whether a type has it.
    pub fn is_in(self, int: IntType) -> bool {
        self.range != Range::Beyond && self.cast(int) == self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: i128) -> Number {
        Number::of(Value::int(value)).unwrap()
    }

    fn interesting() -> Vec<i128> {
        let edges = [0i128, 1, 2, 7, 127, 128, 255, 256, 32767, 65535, 1 << 31, 1 << 32, 1 << 63];
        edges.into_iter().flat_map(|n| [n, -n, n - 1, -n - 1]).collect()
    }

    #[test]
    fn it_computes_as_rust_does_where_128_bits_are_enough() {
        for a in interesting() {
            for b in interesting() {
                let (x, y) = (number(a), number(b));
                assert_eq!(x.plus(y), number(a + b));
                assert_eq!(x.minus(y), number(a - b));
                assert_eq!(x.times(y), number(a * b), "{a} * {b}");
                assert_eq!(x.divided_by(y), a.checked_div(b).map(number));
                assert_eq!(x.remainder_by(y), a.checked_rem(b).map(number));
                assert_eq!(x.bits_with(y, |a, b| a & b), number(a & b));
                assert_eq!(x.bits_with(y, |a, b| a | b), number(a | b));
                assert_eq!(x.bits_with(y, |a, b| a ^ b), number(a ^ b));
                assert_eq!(x.compared(y), Some(a.cmp(&b)));
                if (0..60).contains(&b) {
                    assert_eq!(x.shifted_left(y), Some(number(a << b)));
                    assert_eq!(x.shifted_right(y), Some(number(a >> b)));
                }
            }
        }
    }

    #[test]
    fn types_are_those_of_rust() {
        macro_rules! check {
            ($($int:ident)*) => {$(
                let int = IntType::parse(stringify!($int)).unwrap();
                for a in interesting() {
                    assert_eq!(number(a).cast(int), number((a as $int) as i128));
                    assert_eq!(number(a).is_in(int), $int::try_from(a).is_ok());
                    for b in interesting() {
                        let (c, d) = (a as $int, b as $int);
                        let (x, y) = (number(c as i128), number(d as i128));
                        assert_eq!(x.plus(y).cast(int), number(c.wrapping_add(d) as i128));
                        assert_eq!(x.times(y).cast(int), number(c.wrapping_mul(d) as i128));
                        assert_eq!(x.times(y).is_in(int), c.checked_mul(d).is_some());
                        assert_eq!(x.minus(y).is_in(int), c.checked_sub(d).is_some());
                    }
                }
            )*};
        }
        check!(u8 u16 u32 u64 i8 i16 i32 i64);
    }

    #[test]
    fn what_128_bits_do_not_hold_is_still_known_modulo_that() {
        let (large, wide) = (Number::natural(u128::MAX), IntType::of(128, false).unwrap());
        let sum = large.plus(Number::natural(1));
        assert_eq!((sum.value(), sum.is_true(), sum.is_in(wide)), (None, true, false));
        assert_eq!(sum.cast(wide), Number::ZERO);
        let product = large.times(large);
        assert_eq!(product.cast(wide), Number::natural(1));
        assert_eq!(product.compared(sum), None);
        assert_eq!(large.plus(number(-1)).value(), Some(Value::Nat(u128::MAX - 1)));
        let least = number(i128::MIN);
        assert_eq!(least.minus(number(1)).value(), None);
        assert_eq!(number(0).minus(least).value(), Some(Value::Nat(1 << 127)));
        assert_eq!(least.shifted_left(number(1)).unwrap().value(), None);
        assert_eq!(Number::natural(1).shifted_left(number(200)).unwrap().value(), None);
    }
}
