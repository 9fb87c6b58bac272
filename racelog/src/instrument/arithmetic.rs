//! Operators on words whose types are known: what they compute, and what is checked by them.
//!
//! Arithmetic of expressions is exact. What Rust makes of a result that its type does not have is
//! said by a check, where the program would panic, or by a cast, where it wraps.

use super::data::Origin;
use crate::rt::{Traced, WordKind};
use crate::trace::expression::{Binary, Unary};
use crate::trace::{IntType, Value};

/// What an operator makes of words.
#[derive(Default)]
pub(super) struct Computed {
    /// Nothing if that is not known.
    pub(super) origin: Origin,
    /// What is checked, in this order, with the message of the panic if it does not hold.
    pub(super) checks: Vec<(Origin, &'static str)>,
}

impl Computed {
    /// What panics by nothing.
    fn total(origin: Origin) -> Self {
        Self { origin, checks: Vec::new() }
    }
}

impl Origin {
    fn typed(self, kind: WordKind) -> Self {
        Self(self.0, kind)
    }

    /// A number.
    fn number(number: i128) -> Self {
        Self(Some(Traced::constant(Value::int(number))), WordKind::Literal)
    }

    /// Whether it is one of a type.
    fn is_in(&self, int: IntType) -> Self {
        self.clone().unary(Unary::In(int)).typed(WordKind::Bool)
    }

    fn compared(&self, op: Binary, number: i128) -> Self {
        self.clone().binary(op, Self::number(number)).typed(WordKind::Bool)
    }

    /// As a type, as `as` has it.
    pub(super) fn cast(self, to: WordKind) -> Self {
        match (self.1, to) {
            (
                WordKind::Int(_) | WordKind::Bool | WordKind::Char | WordKind::Literal,
                WordKind::Int(int),
            ) => self.unary(Unary::As(int)).typed(to),
            (WordKind::Int(_) | WordKind::Literal, WordKind::Char) => self.typed(to),
            _ => Self::default(),
        }
    }

    /// `!self`.
    pub(super) fn inverted(self) -> Self {
        let kind = self.1;
        match kind {
            WordKind::Bool => self.unary(Unary::Not).typed(kind),
            WordKind::Int(int) if int.is_signed() => {
                Self::number(-1).binary(Binary::Sub, self).typed(kind)
            }
            WordKind::Int(int) => {
                let most = u128::MAX >> (u128::BITS - int.bits());
                let most = Self(Some(Traced::constant(Value::Nat(most))), kind);
                most.binary(Binary::Sub, self).typed(kind)
            }
            _ => Self::default(),
        }
    }

    /// `-self`.
    pub(super) fn negated(self, overflow_panics: bool) -> Computed {
        let kind = self.1;
        let negative = self.unary(Unary::Minus).typed(kind);
        match kind {
            WordKind::Literal => Computed::total(negative),
            WordKind::Int(int) => {
                negative.bounded(int, overflow_panics, "attempt to negate with overflow")
            }
            _ => Computed::default(),
        }
    }

    /// A result that the type may not have.
    fn bounded(self, int: IntType, panics: bool, message: &'static str) -> Computed {
        let kind = WordKind::Int(int);
        if panics {
            let checks = vec![(self.is_in(int), message)];
            return Computed { origin: self.typed(kind), checks };
        }
        Computed::total(self.unary(Unary::As(int)).typed(kind))
    }

    /// `self op other`.
    pub(super) fn operated(self, op: Binary, other: Self, overflow_panics: bool) -> Computed {
        if matches!(op, Binary::Shl | Binary::Shr) {
            return self.shifted(op, other, overflow_panics);
        }
        let Some(kind) = common(self.1, other.1) else { return Computed::default() };
        let result = self.clone().binary(op, other.clone());
        match op {
            Binary::Eq | Binary::Ne => Computed::total(result.typed(WordKind::Bool)),
            // The number of none is not where none is in the order.
            _ if matches!(kind, WordKind::Option(_)) => Computed::default(),
            Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => {
                Computed::total(result.typed(WordKind::Bool))
            }
            Binary::BitAnd | Binary::BitOr | Binary::BitXor if kind != WordKind::Char => {
                Computed::total(result.typed(kind))
            }
            _ => result.arithmetic((self, other), op, kind, overflow_panics),
        }
    }

    /// The result of arithmetic on operands of one kind.
    fn arithmetic(
        self,
        (left, right): (Self, Self),
        op: Binary,
        kind: WordKind,
        overflow_panics: bool,
    ) -> Computed {
        let WordKind::Int(int) = kind else {
            let literal =
                kind == WordKind::Literal && self.0.as_ref().is_some_and(Traced::is_fixed);
            return if literal { Computed::total(self.typed(kind)) } else { Computed::default() };
        };
        match op {
            Binary::Add => self.bounded(int, overflow_panics, "attempt to add with overflow"),
            Binary::Sub => self.bounded(int, overflow_panics, "attempt to subtract with overflow"),
            Binary::Mul => self.bounded(int, overflow_panics, "attempt to multiply with overflow"),
            Binary::Div | Binary::Rem => {
                let (by_zero, overflow) = match op {
                    Binary::Div => ("attempt to divide by zero", "attempt to divide with overflow"),
                    _ => (
                        "attempt to calculate the remainder with a divisor of zero",
                        "attempt to calculate the remainder with overflow",
                    ),
                };
                let mut checks = vec![(right.compared(Binary::Ne, 0), by_zero)];
                if int.is_signed() {
                    // These panic however the program was built.
                    let quotient = left.binary(Binary::Div, right);
                    checks.push((quotient.is_in(int), overflow));
                }
                Computed { origin: self.typed(kind), checks }
            }
            _ => Computed::default(),
        }
    }

    /// A shift, by an integer of any type.
    fn shifted(self, op: Binary, by: Self, overflow_panics: bool) -> Computed {
        let (WordKind::Int(int), WordKind::Int(_) | WordKind::Literal) = (self.1, by.1) else {
            return Computed::default();
        };
        let kind = WordKind::Int(int);
        let bits = i128::from(int.bits());
        let (by, checks) = if overflow_panics {
            let message = match op {
                Binary::Shl => "attempt to shift left with overflow",
                _ => "attempt to shift right with overflow",
            };
            let least = by.compared(Binary::Ge, 0);
            let fits = least.binary(Binary::And, by.compared(Binary::Lt, bits));
            (by, vec![(fits.typed(WordKind::Bool), message)])
        } else {
            (by.binary(Binary::BitAnd, Self::number(bits - 1)), Vec::new())
        };
        let shifted = self.binary(op, by);
        let origin = match op {
            Binary::Shl => shifted.unary(Unary::As(int)),
            _ => shifted,
        };
        Computed { origin: origin.typed(kind), checks }
    }

    /// What a method of this name makes of it and its arguments; nothing if that is not known.
    pub(super) fn called(self, method: &str, arguments: Vec<Self>) -> Computed {
        if let (Some(none), []) = (self.1.none(), &*arguments) {
            let none = Self(Some(Traced::constant(none)), self.1);
            let op = match method {
                "is_some" => Binary::Ne,
                "is_none" => Binary::Eq,
                _ => return Computed::default(),
            };
            return Computed::total(self.binary(op, none).typed(WordKind::Bool));
        }
        let kind = self.1;
        let WordKind::Int(int) = kind else { return Computed::default() };
        let Ok([other]) = <[Self; 1]>::try_from(arguments) else { return Computed::default() };
        if common(kind, other.1) != Some(kind) {
            return Computed::default();
        }
        let op = match method {
            "wrapping_add" => Binary::Add,
            "wrapping_sub" => Binary::Sub,
            "wrapping_mul" => Binary::Mul,
            _ => return Computed::default(),
        };
        Computed::total(self.binary(op, other).unary(Unary::As(int)).typed(kind))
    }
}

/// The kind of two that an operator takes.
fn common(left: WordKind, right: WordKind) -> Option<WordKind> {
    match (left, right) {
        (WordKind::Other, _) | (_, WordKind::Other) => None,
        (WordKind::Literal, WordKind::Int(_)) => Some(right),
        (WordKind::Int(_), WordKind::Literal) => Some(left),
        _ => (left == right).then_some(left),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::HOOKS;

    /// The value, and which of the checks hold.
    fn outcome(computed: &Computed) -> (Option<Value>, Vec<Option<bool>>) {
        let value = computed.origin.0.as_ref().and_then(Traced::value);
        (value, computed.checks.iter().map(|(check, _)| check.holds()).collect())
    }

    /// All operators on all pairs of some bytes, held against Rust's own.
    #[test]
    fn operators_compute_what_those_of_rust_do() {
        let bytes = [i8::MIN, -127, -8, -1, 0, 1, 2, 7, 8, 100, i8::MAX];
        type Checked = fn(i8, i8) -> Option<i8>;
        type Wrapped = fn(i8, i8) -> i8;
        let operators: [(Binary, Checked, Option<Wrapped>); 10] = [
            (Binary::Add, i8::checked_add, Some(i8::wrapping_add)),
            (Binary::Sub, i8::checked_sub, Some(i8::wrapping_sub)),
            (Binary::Mul, i8::checked_mul, Some(i8::wrapping_mul)),
            (Binary::Div, i8::checked_div, None),
            (Binary::Rem, i8::checked_rem, None),
            (Binary::BitAnd, |a, b| Some(a & b), None),
            (Binary::BitOr, |a, b| Some(a | b), None),
            (Binary::BitXor, |a, b| Some(a ^ b), None),
            (
                Binary::Shl,
                |a, b| u32::try_from(b).ok().and_then(|by| a.checked_shl(by)),
                Some(|a, b| a.wrapping_shl(b as u32)),
            ),
            (
                Binary::Shr,
                |a, b| u32::try_from(b).ok().and_then(|by| a.checked_shr(by)),
                Some(|a, b| a.wrapping_shr(b as u32)),
            ),
        ];
        for (op, checked, wrapped) in operators {
            for (a, b) in bytes.iter().flat_map(|a| bytes.iter().map(move |b| (*a, *b))) {
                let apply = |panics| HOOKS.constant(&a).operated(op, HOOKS.constant(&b), panics);
                let (value, checks) = outcome(&apply(true));
                let holds = checks.iter().all(|check| *check == Some(true));
                assert_eq!(holds, checked(a, b).is_some(), "{a} {op:?} {b}");
                if let Some(result) = checked(a, b) {
                    assert_eq!(value, Some(Value::int(result.into())), "{a} {op:?} {b}");
                }
                if let Some(wrapped) = wrapped {
                    let expected = Value::int(wrapped(a, b).into());
                    let (value, checks) = outcome(&apply(false));
                    assert_eq!((value, checks.len()), (Some(expected), 0), "{a} {op:?} {b}");
                }
            }
        }
    }

    #[test]
    fn operators_of_one_operand_compute_what_those_of_rust_do() {
        for byte in [0u8, 1, 7, 255] {
            let inverted = HOOKS.constant(&byte).inverted();
            assert_eq!(inverted.0.and_then(|it| it.value()), Some(Value::Nat((!byte).into())));
        }
        for byte in [i8::MIN, -1, 0, 5] {
            let origin = HOOKS.constant(&byte);
            let inverted = origin.clone().inverted().0.and_then(|it| it.value());
            assert_eq!(inverted, Some(Value::int((!byte).into())));
            let (value, checks) = outcome(&origin.negated(true));
            assert_eq!(checks, [Some(byte.checked_neg().is_some())]);
            if let Some(negative) = byte.checked_neg() {
                assert_eq!(value, Some(Value::int(negative.into())));
            }
        }
        let is_true = HOOKS.constant(&true).inverted();
        assert_eq!(is_true.holds(), Some(false));
    }

    #[test]
    fn what_is_of_two_types_or_of_none_is_not_known() {
        let unknown = |computed: Computed| computed.origin.0.is_none();
        let (byte, word) = (HOOKS.constant(&1u8), HOOKS.constant(&1u32));
        assert!(unknown(byte.clone().operated(Binary::Add, word, true)));
        assert!(unknown(byte.operated(Binary::Add, HOOKS.constant(&1.0f64), true)));
        let float = HOOKS.constant(&0.0f64);
        assert!(unknown(float.clone().operated(Binary::Eq, float.clone(), true)));
        assert!(float.cast(WordKind::Int(IntType::parse("u8").unwrap())).0.is_none());
    }
}
