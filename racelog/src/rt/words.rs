//! Values that can be recorded: machine words.

use crate::sched;
use crate::trace::Value;
use crate::trace::binary::kept::{small_number, step_between};

/// A type whose values are recorded.
pub(crate) trait Word: Copy {
    /// The word as a number: as one that has a sign if its type has.
    fn number(self) -> i128;

    #[inline]
    fn to_value(self) -> Value {
        Value::int(self.number())
    }
}

macro_rules! words {
    ($($type:ty)*) => {$(
        impl Word for $type {
            #[inline]
            fn number(self) -> i128 {
                self as i128
            }
        }
    )*};
}

words!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool);

impl<T> Word for *mut T {
    #[inline]
    fn number(self) -> i128 {
        sched::number_of_address(self.addr()) as i128
    }
}

/// The value of a word of any type that is one: integers, `bool`, `char`, floats and thin
/// pointers. Opaque for all other types.
#[inline]
pub(crate) fn word_of<T>(value: &T) -> Value {
    // SAFETY: there is a value.
    unsafe { word_at(value) }
}

/// How far a value is from another, as it is recorded, if that is not far.
#[inline(always)]
pub(crate) fn step_of<T>(from: &T, to: &T) -> Option<i8> {
    step_between(small_number(word_of(from))?, small_number(word_of(to))?)
}

/// The value of the word at a place, or what its bits stand for if they are no value of the type.
///
/// # Safety
///
/// The place is memory that this thread may read.
#[inline]
pub(crate) unsafe fn word_at<T>(place: *const T) -> Value {
    macro_rules! cases {
        ($name:expr, $($text:literal $type:ty => $convert:expr,)*) => {
            match $name {
                $($text => {
                    // SAFETY: the compiler calls no other type by this name, so this is its size
                    // and these are its bits.
                    let word = unsafe { place.cast::<$type>().read_unaligned() };
                    $convert(word)
                })*
                name if is_thin_pointer::<T>(name) => {
                    // SAFETY: it is a pointer of the size of an address.
                    let word = unsafe { place.cast::<*const u8>().read_unaligned() };
                    Value::Nat(sched::number_of_address(word.addr()) as u128)
                }
                _ => Value::Opaque,
            }
        };
    }
    cases! { std::any::type_name::<T>(),
        "u8" u8 => |word: u8| Value::Nat(word.into()),
        "u16" u16 => |word: u16| Value::Nat(word.into()),
        "u32" u32 => |word: u32| Value::Nat(word.into()),
        "u64" u64 => |word: u64| Value::Nat(word.into()),
        "usize" usize => |word: usize| Value::Nat(word as u128),
        "u128" u128 => Value::Nat,
        "i8" i8 => |word: i8| Value::int(word.into()),
        "i16" i16 => |word: i16| Value::int(word.into()),
        "i32" i32 => |word: i32| Value::int(word.into()),
        "i64" i64 => |word: i64| Value::int(word.into()),
        "isize" isize => |word: isize| Value::int(word as i128),
        "i128" i128 => Value::int,
        "bool" u8 => |word: u8| Value::Nat(word.into()),
        "char" u32 => |word: u32| Value::Nat(word.into()),
        "f32" f32 => |word: f32| Value::Nat(word.to_bits().into()),
        "f64" f64 => |word: f64| Value::Nat(word.to_bits().into()),
    }
}

fn is_thin_pointer<T>(name: &str) -> bool {
    (name.starts_with("*const ") || name.starts_with("*mut ") || name.starts_with('&'))
        && size_of::<T>() == size_of::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_values_and_others_do_not() {
        #[derive(Clone, Copy)]
        struct Point(#[allow(dead_code, reason = "only its type matters")] u32);
        assert_eq!(word_of(&-3i32), Value::Neg(-3));
        assert_eq!(word_of(&7usize), Value::Nat(7));
        assert_eq!(word_of(&true), Value::Nat(1));
        assert_eq!(word_of(&'a'), Value::Nat(97));
        assert_eq!(word_of(&1.0f32), Value::Nat(0x3f80_0000));
        let target = 5u8;
        let pointer = &raw const target;
        assert_eq!(word_of(&pointer), Value::Nat(pointer.addr() as u128));
        assert_eq!(word_of(&"text"), Value::Opaque);
        assert_eq!(word_of(&Point(1)), Value::Opaque);
        assert_eq!(word_of(&(1u8, 2u8)), Value::Opaque);
    }
}
