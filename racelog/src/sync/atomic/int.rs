//! Mirrors of the atomic integers.

use std::fmt;
use std::sync::atomic::Ordering;

use super::mark::{Mark, on_failure};
use super::methods::{fetches, methods};

macro_rules! integers {
    ($($(#[$gate:meta])* $Atomic:ident holds $int:ident;)*) => {$(
        #[doc = concat!("An integer that threads can share, as [`std::sync::atomic::", stringify!($Atomic), "`].")]
        $(#[$gate])*
        #[repr(C)]
        pub struct $Atomic {
            mark: Mark,
            inner: std::sync::atomic::$Atomic,
        }

        $(#[$gate])*
        impl $Atomic {
            methods! {
                #[must_use]
                $Atomic holds $int
            }

            fetches! { $Atomic holds $int;
                fetch_add(value: $int) |old| old.wrapping_add(value);
                fetch_sub(value: $int) |old| old.wrapping_sub(value);
                fetch_and(value: $int) |old| old & value;
                fetch_nand(value: $int) |old| !(old & value);
                fetch_or(value: $int) |old| old | value;
                fetch_xor(value: $int) |old| old ^ value;
                fetch_max(value: $int) |old| old.max(value);
                fetch_min(value: $int) |old| old.min(value);
            }
        }

        $(#[$gate])*
        impl Default for $Atomic {
            #[inline]
            fn default() -> Self {
                Self::new(0)
            }
        }

        $(#[$gate])*
        impl From<$int> for $Atomic {
            #[inline]
            fn from(value: $int) -> Self {
                Self::new(value)
            }
        }

        $(#[$gate])*
        impl fmt::Debug for $Atomic {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // What is printed for a person is not what the program does: nothing is recorded.
                self.inner.fmt(f)
            }
        }
    )*};
}

integers! {
    AtomicI8 holds i8;
    AtomicU8 holds u8;
    AtomicI16 holds i16;
    AtomicU16 holds u16;
    AtomicI32 holds i32;
    AtomicU32 holds u32;
    #[cfg(target_has_atomic = "64")]
    AtomicI64 holds i64;
    #[cfg(target_has_atomic = "64")]
    AtomicU64 holds u64;
    AtomicIsize holds isize;
    AtomicUsize holds usize;
}
