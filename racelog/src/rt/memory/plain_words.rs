//! Words that locks guard: those that stand for nothing but themselves.
//!
//! Numbers, truth values and characters, and those of them that have a value to spare. Addresses are
//! no such words: what a lock guards may change where its address does not.

use std::any::TypeId;
use std::cmp::Ordering;
use std::num::NonZero;

use super::words::id_of;
use crate::trace::Value;

/// A type of which all that a thread can learn by a value is its number: without interior
/// mutability, without a destructor, and no address of anything.
pub trait PlainWord: Copy {}

/// Looks at a word of one type.
pub(in crate::rt) type Peek = unsafe fn(*const ()) -> Value;

/// The value of what a lock guards: of a [`PlainWord`], and opaque for all other types.
#[inline(always)]
pub(crate) fn plain_word_of<T: ?Sized>(data: &T) -> Value {
    match peek_of::<T>() {
        // SAFETY: it is of the type.
        Some(peek) => unsafe { peek(std::ptr::from_ref(data).cast()) },
        None => Value::Opaque,
    }
}

/// The types, and how the number of a value is had.
macro_rules! plain_words {
    ($($type:ty => $number:expr,)*) => {
        $(impl PlainWord for $type {})*

        /// What looks at a word, if the type is one of words.
        #[inline(always)]
        pub(in crate::rt) fn peek_of<T: ?Sized>() -> Option<Peek> {
            $(if id_of::<T>() == TypeId::of::<$type>() {
                return Some(|place| {
                    let number: fn($type) -> Value = $number;
                    // SAFETY: the caller vouches for a word of this type.
                    number(unsafe { *place.cast::<$type>() })
                });
            })*
            None
        }
    };
}

/// With those that are not 0, alone and where 0 says that there is none.
macro_rules! with_numbers {
    (
        signed: $($signed:ty)*; unsigned: $($unsigned:ty)*; others: $($type:ty => $number:expr,)*
    ) => {
        plain_words! {
            $($signed => |word| Value::int(word as i128),
            NonZero<$signed> => |word| Value::int(word.get() as i128),
            Option<NonZero<$signed>> => |word| Value::int(word.map_or(0, NonZero::get) as i128),)*
            $($unsigned => |word| Value::Nat(word as u128),
            NonZero<$unsigned> => |word| Value::Nat(word.get() as u128),
            Option<NonZero<$unsigned>> => |word| Value::Nat(word.map_or(0, NonZero::get) as u128),)*
            $($type => $number,)*
        }
    };
}

with_numbers! {
    signed: i8 i16 i32 i64 i128 isize;
    unsigned: u8 u16 u32 u64 u128 usize;
    others:
        bool => |word| Value::Nat(word.into()),
        char => |word| Value::Nat(u32::from(word).into()),
        f32 => |word| Value::Nat(word.to_bits().into()),
        f64 => |word| Value::Nat(word.to_bits().into()),
        Ordering => |word| Value::int(word as i128),
        // What is none has the number after the last.
        Option<bool> => |word| Value::Nat(word.map_or(2, u128::from)),
        Option<char> => |word| Value::Nat(word.map_or(0x11_0000, u32::from).into()),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_stand_for_themselves_have_values() {
        assert_eq!(plain_word_of(&-3i16), Value::Neg(-3));
        assert_eq!(plain_word_of(&u128::MAX), Value::Nat(u128::MAX));
        assert_eq!(plain_word_of(&NonZero::new(7u32)), Value::Nat(7));
        assert_eq!(plain_word_of(&None::<NonZero<u32>>), Value::Nat(0));
        assert_eq!(plain_word_of(&NonZero::new(-7i8).unwrap()), Value::Neg(-7));
        assert_eq!(plain_word_of(&true), Value::Nat(1));
        assert_eq!(plain_word_of(&Some(false)), Value::Nat(0));
        assert_eq!(plain_word_of(&None::<char>), Value::Nat(0x11_0000));
        assert_eq!(plain_word_of(&Ordering::Less), Value::Neg(-1));
        assert_eq!(plain_word_of(&1.0f32), Value::Nat(0x3f80_0000));
    }

    #[test]
    fn what_stands_for_something_else_has_none() {
        let mut number = 5u32;
        assert_eq!(plain_word_of(&&number), Value::Opaque);
        assert_eq!(plain_word_of(&&raw const number), Value::Opaque);
        assert_eq!(plain_word_of(&Box::new(1u8)), Value::Opaque);
        assert_eq!(plain_word_of(&std::cell::Cell::new(1u8)), Value::Opaque);
        assert_eq!(plain_word_of(&(1u8, 2u8)), Value::Opaque);
        assert_eq!(plain_word_of("text"), Value::Opaque);
        assert_eq!(plain_word_of(&&mut number), Value::Opaque);
    }
}
