//! [`crossbeam_utils::atomic::AtomicConsume`] of racelog's atomics, for code that loads by it.

use crossbeam_utils::atomic::AtomicConsume;

use crate::sync::atomic::{self, Ordering};

/// What it promises holds of an acquire load, too. On most processors crossbeam's is one.
macro_rules! consume {
    ($([$($generic:ident)?] $atomic:ty => $value:ty;)*) => {$(
        impl$(<$generic>)? AtomicConsume for $atomic {
            type Val = $value;

            #[track_caller]
            fn load_consume(&self) -> $value {
                self.load(Ordering::Acquire)
            }
        }
    )*};
}

consume! {
    [] atomic::AtomicBool => bool;
    [] atomic::AtomicI8 => i8;
    [] atomic::AtomicI16 => i16;
    [] atomic::AtomicI32 => i32;
    [] atomic::AtomicIsize => isize;
    [] atomic::AtomicU8 => u8;
    [] atomic::AtomicU16 => u16;
    [] atomic::AtomicU32 => u32;
    [] atomic::AtomicUsize => usize;
    [T] atomic::AtomicPtr<T> => *mut T;
}

#[cfg(target_has_atomic = "64")]
consume! {
    [] atomic::AtomicI64 => i64;
    [] atomic::AtomicU64 => u64;
}
