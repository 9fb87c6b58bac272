//! The atomics and the fences.

use crate::both::for_both;

/// What all atomics have. `$word` is what they hold, and `$value` one of those.
macro_rules! atomic {
    ($Atomic:ty, $word:ty, $value:expr) => {
        const _: $Atomic = <$Atomic>::new($value);
        const _: $word = <$Atomic>::new($value).into_inner();
        static STATIC: $Atomic = <$Atomic>::new($value);
        const fn pointer(atomic: &$Atomic) -> *mut $word {
            atomic.as_ptr()
        }
        const FROM_PTR: unsafe fn(*mut $word) -> &'static $Atomic = <$Atomic>::from_ptr;
        let _: fn(&$Atomic) -> *mut $word = pointer;
        let _: unsafe fn(*mut $word) -> &'static $Atomic = FROM_PTR;
        let _: fn($word) -> $Atomic = <$Atomic>::new;
        let _: fn() -> $Atomic = Default::default;
        let _: fn($word) -> $Atomic = From::from;
        let _: fn(&mut $Atomic) -> &mut $word = <$Atomic>::get_mut;
        let _: fn($Atomic) -> $word = <$Atomic>::into_inner;
        let _: fn(&$Atomic, Ordering) -> $word = <$Atomic>::load;
        let _: fn(&$Atomic, $word, Ordering) = <$Atomic>::store;
        let _: fn(&$Atomic, $word, Ordering) -> $word = <$Atomic>::swap;
        #[expect(deprecated)]
        let _: fn(&$Atomic, $word, $word, Ordering) -> $word = <$Atomic>::compare_and_swap;
        type Exchange = fn(&$Atomic, $word, $word, Ordering, Ordering) -> Result<$word, $word>;
        let _: [Exchange; 2] = [<$Atomic>::compare_exchange, <$Atomic>::compare_exchange_weak];
        let _: fn(
            &$Atomic,
            Ordering,
            Ordering,
            fn($word) -> Option<$word>,
        ) -> Result<$word, $word> = <$Atomic>::fetch_update;
        type TryUpdate = fn($word) -> Option<$word>;
        let _: fn(&$Atomic, TryUpdate) -> Result<$word, $word> =
            |atomic, f| atomic.try_update(Ordering::SeqCst, Ordering::SeqCst, f);
        let _: fn(&$Atomic, fn($word) -> $word) -> $word =
            |atomic, f| atomic.update(Ordering::SeqCst, Ordering::SeqCst, f);
        assert_eq!(size_of::<$Atomic>(), size_of::<$word>());
        assert!(align_of::<$Atomic>() >= align_of::<$word>());
        assert_eq!(STATIC.load(Ordering::Relaxed), $value);
    };
}

/// What `$Atomic` can do to its word with an operand.
macro_rules! fetches {
    ($Atomic:ty, $word:ty, $operand:ty: $($fetch:ident)*) => {
        $(let _: fn(&$Atomic, $operand, Ordering) -> $word = <$Atomic>::$fetch;)*
    };
}

use {atomic, fetches};

for_both! {
    use std::fmt::{Debug, Pointer};
    use std::ptr;

    use root::sync::atomic::{self, Ordering};

    #[test]
    fn bools() {
        super::atomic!(atomic::AtomicBool, bool, false);
        super::fetches!(atomic::AtomicBool, bool, bool: fetch_and fetch_nand fetch_or fetch_xor);
        let _: fn(&atomic::AtomicBool, Ordering) -> bool = atomic::AtomicBool::fetch_not;
    }

    macro_rules! integers {
        ($($name:ident: $Atomic:ident, $int:ty;)*) => {$(
            #[test]
            fn $name() {
                super::atomic!(atomic::$Atomic, $int, 0);
                super::fetches!(
                    atomic::$Atomic, $int, $int:
                    fetch_add fetch_sub fetch_and fetch_nand fetch_or fetch_xor fetch_max fetch_min
                );
            }
        )*};
    }

    integers! {
        i8s: AtomicI8, i8;
        u8s: AtomicU8, u8;
        i16s: AtomicI16, i16;
        u16s: AtomicU16, u16;
        i32s: AtomicI32, i32;
        u32s: AtomicU32, u32;
        i64s: AtomicI64, i64;
        u64s: AtomicU64, u64;
        isizes: AtomicIsize, isize;
        usizes: AtomicUsize, usize;
    }

    #[test]
    fn pointers() {
        // A pointer to a constant may be shared, whatever else a raw pointer may not.
        type Pointer32 = atomic::AtomicPtr<u32>;
        super::atomic!(Pointer32, *mut u32, ptr::null_mut());
        super::fetches!(
            Pointer32, *mut u32, usize:
            fetch_ptr_add fetch_ptr_sub fetch_byte_add fetch_byte_sub fetch_or fetch_and fetch_xor
        );
        fn shown<T: Debug + Pointer>() {}
        shown::<Pointer32>();
    }

    #[test]
    fn fences() {
        let _: fn(Ordering) = atomic::fence;
        let _: fn(Ordering) = atomic::compiler_fence;
        let _: fn() = root::hint::spin_loop;
        #[expect(deprecated)]
        let _: fn() = atomic::spin_loop_hint;
        let _: [Ordering; 5] = [
            Ordering::Relaxed,
            Ordering::Release,
            Ordering::Acquire,
            Ordering::AcqRel,
            Ordering::SeqCst,
        ];
        #[expect(deprecated)]
        let old = (
            atomic::ATOMIC_BOOL_INIT.into_inner(),
            atomic::ATOMIC_ISIZE_INIT.into_inner(),
            atomic::ATOMIC_USIZE_INIT.into_inner(),
        );
        assert_eq!(old, (false, 0, 0));
    }
}
