//! The mirrors against std's: the same layout, the same traits, and each operation with the same
//! result and the same effect.

use std::panic::{RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::atomic as real;

use super::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8,
    AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

const LOADS: [Ordering; 3] = [Ordering::Relaxed, Ordering::Acquire, Ordering::SeqCst];
const STORES: [Ordering; 3] = [Ordering::Relaxed, Ordering::Release, Ordering::SeqCst];
const ALL: [Ordering; 5] =
    [Ordering::Relaxed, Ordering::Acquire, Ordering::Release, Ordering::AcqRel, Ordering::SeqCst];

/// Calls a method on a mirror and on std's atomic, which must agree on the result and on what is
/// left.
macro_rules! same {
    ($Atomic:ident, $start:expr, $method:ident($($operand:expr),*)) => {
        for order in ALL {
            let (mirror, std) = ($Atomic::new($start), real::$Atomic::new($start));
            assert_eq!(mirror.$method($($operand,)* order), std.$method($($operand,)* order));
            let left = std.into_inner();
            assert_eq!(mirror.load(Ordering::SeqCst), left, "{}", stringify!($method));
            assert_eq!(mirror.into_inner(), left);
        }
    };
}

/// What all types have in common, tried with two different words.
macro_rules! common {
    ($Atomic:ident $(<$T:ty>)?, $word:ty, $one:expr, $two:expr) => {
        let (one, two): ($word, $word) = ($one, $two);
        let relaxed = Ordering::Relaxed;
        same!($Atomic, one, swap(two));
        for (load, store) in LOADS.into_iter().zip(STORES) {
            let atomic = $Atomic::new(one);
            assert_eq!(atomic.load(load), one);
            atomic.store(two, store);
            assert_eq!(atomic.load(load), two);
        }
        for success in ALL {
            for failure in LOADS {
                let atomic = $Atomic::new(one);
                assert_eq!(atomic.compare_exchange(two, one, success, failure), Err(one));
                assert_eq!(atomic.compare_exchange(one, two, success, failure), Ok(one));
                assert_eq!(atomic.compare_exchange_weak(one, one, success, failure), Err(two));
                while atomic.compare_exchange_weak(two, one, success, failure).is_err() {}
                assert_eq!(atomic.into_inner(), one);
            }
            #[expect(deprecated, reason = "it is there all the same")]
            {
                same!($Atomic, one, compare_and_swap(one, two));
                same!($Atomic, one, compare_and_swap(two, one));
            }
        }

        let mut atomic = $Atomic::from(one);
        #[cfg(std_since = "1.95")]
        {
            assert_eq!(atomic.update(relaxed, relaxed, |_| two), one);
            assert_eq!(atomic.try_update(relaxed, relaxed, |_| None), Err(two));
            assert_eq!(atomic.try_update(relaxed, relaxed, |_| Some(one)), Ok(two));
        }
        let updated = atomic.fetch_update(relaxed, relaxed, |_| Some(two));
        assert_eq!(updated, Ok(one));
        assert_eq!(*atomic.get_mut(), two);
        *atomic.get_mut() = one;
        assert_eq!(atomic.load(relaxed), one);
        // SAFETY: nobody else has the atomic.
        unsafe { *atomic.as_ptr() = two };
        assert_eq!(atomic.swap(one, relaxed), two);
        let std = real::$Atomic::new(one);
        assert_eq!(format!("{atomic:?} {atomic:#?}"), format!("{std:?} {std:#?}"));
        let (word, std): ($word, $word) =
            ($Atomic::default().into_inner(), real::$Atomic::default().into_inner());
        assert_eq!(word, std);

        // What std refuses is refused.
        for order in [Ordering::Release, Ordering::AcqRel] {
            assert!(catch_unwind(|| $Atomic::new($one).load(order)).is_err());
            assert!(
                catch_unwind(|| $Atomic::new($one).compare_exchange($one, $two, relaxed, order))
                    .is_err()
            );
        }
        for order in [Ordering::Acquire, Ordering::AcqRel] {
            assert!(catch_unwind(|| $Atomic::new($one).store($two, order)).is_err());
        }

        assert_eq!(size_of::<$Atomic $(<$T>)?>(), size_of::<real::$Atomic $(<$T>)?>());
        assert_eq!(align_of::<$Atomic $(<$T>)?>(), align_of::<real::$Atomic $(<$T>)?>());
        assert_eq!(size_of::<Option<$Atomic $(<$T>)?>>(), size_of::<Option<real::$Atomic $(<$T>)?>>());
        let mut words = [one, two, one];
        let first = words.as_mut_ptr();
        for i in 0..words.len() {
            // SAFETY: it is in the array, aligned as words of this size are here, and accessed by
            // nothing else.
            let atomic = unsafe { $Atomic::from_ptr(first.add(i)) };
            assert_eq!(atomic.as_ptr(), first.wrapping_add(i));
            assert_eq!(atomic.swap(two, relaxed), [one, two, one][i]);
        }
        assert_eq!(words, [two; 3]);
    };
}

macro_rules! integers {
    ($($test:ident: $Atomic:ident holds $int:ident;)*) => {$(
        #[test]
        fn $test() {
            const WORDS: [$int; 6] = [0, 1, 7, 0x55, $int::MIN, $int::MAX];
            common!($Atomic, $int, 3, $int::MAX);
            for old in WORDS {
                for operand in WORDS {
                    same!($Atomic, old, fetch_add(operand));
                    same!($Atomic, old, fetch_sub(operand));
                    same!($Atomic, old, fetch_and(operand));
                    same!($Atomic, old, fetch_nand(operand));
                    same!($Atomic, old, fetch_or(operand));
                    same!($Atomic, old, fetch_xor(operand));
                    same!($Atomic, old, fetch_max(operand));
                    same!($Atomic, old, fetch_min(operand));
                }
            }
            const AT_COMPILE_TIME: $int = $Atomic::new(5).into_inner();
            assert_eq!(AT_COMPILE_TIME, 5);
        }
    )*};
}

integers! {
    i8_is_as_in_std: AtomicI8 holds i8;
    u8_is_as_in_std: AtomicU8 holds u8;
    i16_is_as_in_std: AtomicI16 holds i16;
    u16_is_as_in_std: AtomicU16 holds u16;
    i32_is_as_in_std: AtomicI32 holds i32;
    u32_is_as_in_std: AtomicU32 holds u32;
    i64_is_as_in_std: AtomicI64 holds i64;
    u64_is_as_in_std: AtomicU64 holds u64;
    isize_is_as_in_std: AtomicIsize holds isize;
    usize_is_as_in_std: AtomicUsize holds usize;
}

#[test]
fn bool_is_as_in_std() {
    common!(AtomicBool, bool, false, true);
    for old in [false, true] {
        for operand in [false, true] {
            same!(AtomicBool, old, fetch_and(operand));
            same!(AtomicBool, old, fetch_nand(operand));
            same!(AtomicBool, old, fetch_or(operand));
            same!(AtomicBool, old, fetch_xor(operand));
        }
        same!(AtomicBool, old, fetch_not());
    }
}

#[test]
fn ptr_is_as_in_std() {
    const ONE: *mut u32 = std::ptr::without_provenance_mut(0x1000);
    const TWO: *mut u32 = std::ptr::without_provenance_mut(0x2003);
    common!(AtomicPtr<u32>, *mut u32, ONE, TWO);
    #[cfg(std_since = "1.91")]
    for old in [ONE, TWO] {
        for operand in [0, 1, 0xff, usize::MAX, 1 << (usize::BITS - 1)] {
            same!(AtomicPtr, old, fetch_ptr_add(operand));
            same!(AtomicPtr, old, fetch_ptr_sub(operand));
            same!(AtomicPtr, old, fetch_byte_add(operand));
            same!(AtomicPtr, old, fetch_byte_sub(operand));
            same!(AtomicPtr, old, fetch_or(operand));
            same!(AtomicPtr, old, fetch_and(operand));
            same!(AtomicPtr, old, fetch_xor(operand));
        }
    }
    assert_eq!(format!("{:p}", AtomicPtr::new(ONE)), format!("{ONE:p}"));
}

#[test]
fn auto_traits_are_those_of_std() {
    fn all<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
    fn shared<T: Send + Sync + Unpin + RefUnwindSafe>() {}
    all::<AtomicBool>();
    all::<AtomicI8>();
    all::<AtomicU64>();
    all::<AtomicUsize>();
    all::<AtomicPtr<u8>>();
    // Whatever they point to.
    shared::<real::AtomicPtr<std::rc::Rc<std::cell::Cell<u8>>>>();
    shared::<AtomicPtr<std::rc::Rc<std::cell::Cell<u8>>>>();
}

#[test]
fn a_pointer_may_outlive_its_target() {
    // Compiles only if dropping the pointer does not use what it points to.
    let atomic = AtomicPtr::default();
    let mut target = 5;
    let mut reference = &mut target;
    atomic.store(&raw mut reference, Ordering::Relaxed);
    assert!(!atomic.load(Ordering::Relaxed).is_null());
}

#[test]
fn fences_are_as_in_std() {
    for order in [Ordering::Acquire, Ordering::Release, Ordering::AcqRel, Ordering::SeqCst] {
        fence(order);
    }
    assert!(catch_unwind(|| fence(Ordering::Relaxed)).is_err());
}

#[test]
#[expect(deprecated, reason = "they are there all the same")]
fn deprecated_items_are_there() {
    assert!(!super::ATOMIC_BOOL_INIT.into_inner());
    assert_eq!(super::ATOMIC_ISIZE_INIT.into_inner(), 0);
    assert_eq!(super::ATOMIC_USIZE_INIT.into_inner(), 0);
    super::spin_loop_hint();
}
