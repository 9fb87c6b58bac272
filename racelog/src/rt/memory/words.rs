//! Values that can be recorded: machine words.

use std::any::TypeId;
use std::marker::PhantomData;

use crate::rt::base::control;
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
        control::number_of_address(self.addr()) as i128
    }
}

/// The value of a word of any type that is one: integers, `bool`, `char`, floats and thin
/// pointers. Opaque for all other types.
#[inline]
pub(crate) fn word_of<T>(value: &T) -> Value {
    // SAFETY: there is a value, and those of words are initialised.
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
/// The place is memory that this thread may read, and if the type is a word's it is initialised.
#[inline(always)]
pub(crate) unsafe fn word_at<T>(place: *const T) -> Value {
    macro_rules! cases {
        ($($type:ty => $convert:expr,)*) => {$(
            if is::<T, $type>() {
                // SAFETY: it is this type, for which all bits that are initialised are a value.
                let word = unsafe { place.cast::<$type>().read_unaligned() };
                return $convert(word);
            }
        )*};
    }
    cases! {
        u8 => |word: u8| Value::Nat(word.into()),
        u16 => |word: u16| Value::Nat(word.into()),
        u32 => |word: u32| Value::Nat(word.into()),
        u64 => |word: u64| Value::Nat(word.into()),
        usize => |word: usize| Value::Nat(word as u128),
        u128 => Value::Nat,
        i8 => |word: i8| Value::int(word.into()),
        i16 => |word: i16| Value::int(word.into()),
        i32 => |word: i32| Value::int(word.into()),
        i64 => |word: i64| Value::int(word.into()),
        isize => |word: isize| Value::int(word as i128),
        i128 => Value::int,
        f32 => |word: f32| Value::Nat(word.to_bits().into()),
        f64 => |word: f64| Value::Nat(word.to_bits().into()),
    }
    if is::<T, bool>() {
        // SAFETY: it is a `bool`, which is a byte.
        let word = unsafe { place.cast::<u8>().read_unaligned() };
        return Value::Nat(word.into());
    }
    if is::<T, char>() {
        // SAFETY: it is a `char`, which is four bytes.
        let word = unsafe { place.cast::<u32>().read_unaligned() };
        return Value::Nat(word.into());
    }
    if is_thin_pointer::<T>() {
        // SAFETY: it is as long as an address, and may be read.
        let address = unsafe { bits_at(place.cast()) };
        return Value::Nat(control::number_of_address(address) as u128);
    }
    Value::Opaque
}

/// Whether the values of a type are recorded.
#[inline(always)]
pub(crate) fn is_word<T>() -> bool {
    macro_rules! any {
        ($($type:ty)*) => { false $(|| is::<T, $type>())* };
    }
    any!(u8 u16 u32 u64 usize u128 i8 i16 i32 i64 isize i128 f32 f64 bool char)
        || is_thin_pointer::<T>()
}

/// Whether a type is another, which has no lifetimes in it.
#[inline(always)]
fn is<T, U: 'static>() -> bool {
    id_of::<T>() == TypeId::of::<U>()
}

/// The id of a type, whatever the lifetimes in it.
#[inline(always)]
pub(in crate::rt) fn id_of<T: ?Sized>() -> TypeId {
    trait Typed {
        fn id(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<T: ?Sized> Typed for PhantomData<T> {
        #[inline(always)]
        fn id(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }
    let phantom = PhantomData::<T>;
    let typed: &dyn Typed = &phantom;
    // SAFETY: only the bound of the trait object changes, and with it what may be called. What is
    // called looks at no value whose lifetime this could be wrong about: there is none.
    let typed = unsafe { std::mem::transmute::<&dyn Typed, &(dyn Typed + 'static)>(typed) };
    typed.id()
}

/// Whether a type looks to be a thin pointer. The name of a type is for people to read, so nothing
/// that has to be right may depend on it: whatever the type is, its bits can be had.
#[inline(always)]
fn is_thin_pointer<T>() -> bool {
    let name = std::any::type_name::<T>();
    (name.starts_with("*const ") || name.starts_with("*mut ") || name.starts_with('&'))
        && size_of::<T>() == size_of::<usize>()
}

/// The bits at a place, whatever they stand for, and even if they are not initialised.
///
/// # Safety
///
/// The place is memory of the length of an address that this thread may read.
#[cfg(all(
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
))]
#[inline(always)]
unsafe fn bits_at(place: *const usize) -> usize {
    let bits: usize;
    // SAFETY: the caller vouches for the memory, which is all that is read. To the machine every
    // bit has a value, and what it loads is no more than that.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!(
            "mov {bits}, qword ptr [{place}]",
            place = in(reg) place,
            bits = lateout(reg) bits,
            options(nostack, preserves_flags, readonly),
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!(
            "ldr {bits}, [{place}]",
            place = in(reg) place,
            bits = lateout(reg) bits,
            options(nostack, preserves_flags, readonly),
        );
    }
    bits
}

/// As above, where all that looks like a pointer is taken for one.
///
/// # Safety
///
/// The place is a pointer that this thread may read.
#[cfg(not(all(
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
)))]
#[inline(always)]
unsafe fn bits_at(place: *const usize) -> usize {
    // SAFETY: the caller vouches for it.
    unsafe { place.cast::<*const u8>().read_unaligned() }.addr()
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

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
        assert_eq!(word_of(&MaybeUninit::<u64>::uninit()), Value::Opaque);
        assert!(is_word::<&u8>() && is_word::<f64>() && !is_word::<Point>());
    }

    #[test]
    fn types_are_told_whatever_their_lifetimes() {
        fn with_lifetime<'a>(text: &'a str) -> TypeId {
            fn of<T>(_: T) -> TypeId {
                id_of::<T>()
            }
            of::<&'a str>(text)
        }
        assert_eq!(with_lifetime(&String::from("text")), TypeId::of::<&'static str>());
        assert!(is::<u32, u32>() && !is::<u32, i32>() && !is::<[u8; 4], u32>());
    }
}
