//! What can be computed with words of a type.

use std::any::TypeId;
use std::num::NonZero;

use super::words::id_of;
use crate::trace::IntType;
use crate::trace::Value;

/// What can be computed with a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum WordKind {
    /// A number of the program's text, of a type that it does not say.
    Literal,
    /// An integer.
    Int(IntType),
    /// A truth value.
    Bool,
    /// A character.
    Char,
    /// An `Option` of a word, with the number that stands for none.
    Option(u32),
    /// Nothing: a float, an address, or no word at all.
    #[default]
    Other,
}

/// What can be computed with words of this type.
#[inline]
pub(crate) fn kind_of<T: ?Sized>() -> WordKind {
    macro_rules! kinds {
        ($($int:ty)*) => {$(
            if id_of::<T>() == TypeId::of::<$int>() {
                let int = IntType::of(<$int>::BITS, <$int>::MIN != 0);
                return int.map_or(WordKind::Other, WordKind::Int);
            }
            if id_of::<T>() == TypeId::of::<Option<NonZero<$int>>>() {
                return WordKind::Option(0);
            }
        )*};
    }
    kinds! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }
    let others = [
        (TypeId::of::<bool>(), WordKind::Bool),
        (TypeId::of::<char>(), WordKind::Char),
        (TypeId::of::<Option<bool>>(), WordKind::Option(2)),
        (TypeId::of::<Option<char>>(), WordKind::Option(0x11_0000)),
    ];
    let kind = others.iter().find(|(id, _)| *id == id_of::<T>());
    kind.map_or(WordKind::Other, |(_, kind)| *kind)
}

impl WordKind {
    /// The value that stands for none.
    pub(crate) fn none(self) -> Option<Value> {
        match self {
            Self::Option(none) => Some(Value::Nat(none.into())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_what_they_are_computed_as() {
        assert_eq!(kind_of::<u8>(), WordKind::Int(IntType::parse("u8").unwrap()));
        assert_eq!(kind_of::<isize>(), WordKind::Int(IntType::of(isize::BITS, true).unwrap()));
        assert_eq!(kind_of::<bool>(), WordKind::Bool);
        assert_eq!(kind_of::<Option<NonZero<u32>>>(), WordKind::Option(0));
        assert_eq!(kind_of::<Option<u32>>(), WordKind::Other);
        assert_eq!(kind_of::<f64>(), WordKind::Other);
        assert_eq!(kind_of::<&u8>(), WordKind::Other);
    }
}
