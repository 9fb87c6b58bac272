//! The atomics and the fences, and what is built from them.

use crate::both::for_both;

for_both! {
    use std::ptr;

    use root::cell::UnsafeCell;
    use root::sync::atomic::{
        AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence,
    };
    use root::thread;

    #[test]
    fn increments_are_not_lost() {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        COUNT.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(COUNT.load(Ordering::Relaxed), 100);
    }

    #[test]
    fn arithmetic() {
        let number = AtomicI32::new(i32::MAX);
        assert_eq!(number.fetch_add(1, Ordering::SeqCst), i32::MAX);
        assert_eq!(number.fetch_sub(1, Ordering::SeqCst), i32::MIN);
        assert_eq!(number.swap(0b1100, Ordering::AcqRel), i32::MAX);
        assert_eq!(number.fetch_and(0b0110, Ordering::SeqCst), 0b1100);
        assert_eq!(number.fetch_or(0b0001, Ordering::SeqCst), 0b0100);
        assert_eq!(number.fetch_xor(0b0111, Ordering::SeqCst), 0b0101);
        assert_eq!(number.fetch_nand(0b0011, Ordering::SeqCst), 0b0010);
        assert_eq!(number.fetch_max(-1, Ordering::SeqCst), !0b0010);
        assert_eq!(number.fetch_min(-7, Ordering::SeqCst), -1);
        assert_eq!(number.update(Ordering::SeqCst, Ordering::Relaxed, |old| old * 2), -7);
        let even = |old: i32| (old % 2 != 0).then_some(old + 1);
        assert_eq!(number.try_update(Ordering::SeqCst, Ordering::Relaxed, even), Err(-14));
        assert_eq!(format!("{number:?}"), "-14");
        assert_eq!(number.into_inner(), -14);
    }

    #[test]
    fn a_compare_exchange_tells_what_it_found() {
        let number = AtomicU64::from(5);
        let exchange = |from, to| {
            number.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
        };
        assert_eq!(exchange(5, 6), Ok(5));
        assert_eq!(exchange(5, 7), Err(6));
        while number.compare_exchange_weak(6, 8, Ordering::SeqCst, Ordering::Relaxed).is_err() {}
        assert_eq!(number.load(Ordering::Relaxed), 8);
    }

    #[test]
    fn who_has_it_alone_may_change_it() {
        let mut number = AtomicU8::new(1);
        number.store(2, Ordering::Release);
        *number.get_mut() += 1;
        assert_eq!(number.load(Ordering::Acquire), 3);
        let mut flag = AtomicBool::default();
        assert!(!flag.fetch_not(Ordering::SeqCst));
        *flag.get_mut() = false;
        assert!(!flag.fetch_or(true, Ordering::SeqCst) && flag.into_inner());
        let mut cell = UnsafeCell::new(1);
        *cell.get_mut() += 1;
        assert_eq!(cell.into_inner(), 2);
    }

    #[test]
    fn a_pointer_is_handed_over() {
        static SLOT: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
        let values = Box::leak(Box::new([1, 2]));
        let first = &raw mut values[0];
        let address = first.addr();
        SLOT.store(first, Ordering::Release);
        thread::spawn(move || {
            assert_eq!(SLOT.load(Ordering::Acquire).addr(), address);
            SLOT.fetch_ptr_add(1, Ordering::AcqRel);
            SLOT.fetch_byte_sub(1, Ordering::AcqRel);
        })
        .join()
        .unwrap();
        assert_eq!(SLOT.swap(ptr::null_mut(), Ordering::AcqRel).addr(), address + 3);
    }

    /// Two fences order what stands around them.
    #[test]
    fn fences_order() {
        let (data, ready) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                data.store(42, Ordering::Relaxed);
                fence(Ordering::Release);
                ready.store(true, Ordering::Relaxed);
            });
            while !ready.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            fence(Ordering::Acquire);
            assert_eq!(data.load(Ordering::Relaxed), 42);
        });
    }

    #[test]
    #[should_panic = "there is no such thing as a release load"]
    fn an_ordering_that_makes_no_sense_panics() {
        // Not written out, for the compiler knows that it makes none with std's.
        let order = [Ordering::Release][usize::from(thread::panicking())];
        AtomicUsize::new(0).load(order);
    }
}
