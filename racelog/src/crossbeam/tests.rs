//! The same tests for crossbeam and, where recording is compiled in, for its mirror.

macro_rules! same_for {
    ($($name:ident: $($thread:tt)::+, $($atomic:tt)::+, $($utils:tt)::+;)*) => {$(
        mod $name {
            use std::panic::{RefUnwindSafe, UnwindSafe, catch_unwind};

            use $($atomic)::+::{AtomicCell, AtomicConsume};
            use $($utils)::+::Backoff;
            use $($thread)::+::{Scope, ScopedJoinHandle, ScopedThreadBuilder, scope};

            #[test]
            fn who_backs_off_has_waited_long_enough_some_time() {
                let backoff = Backoff::new();
                assert!(!backoff.is_completed());
                for _ in 0..20 {
                    backoff.spin();
                }
                assert!(!backoff.is_completed(), "it never says so of spinning");
                while !backoff.is_completed() {
                    backoff.snooze();
                }
                assert_eq!(format!("{backoff:?}"), "Backoff { step: Cell { value: 11 }, is_completed: true }");
                backoff.reset();
                assert!(!backoff.is_completed() && !Backoff::default().is_completed());
            }

            #[test]
            fn threads_borrow_and_spawn_further_threads() {
                let mut numbers = vec![1, 2, 3];
                let sum = scope(|scope: &Scope<'_>| {
                    let builder: ScopedThreadBuilder<'_, '_> = scope.builder();
                    let handle: ScopedJoinHandle<'_, i32> = builder
                        .name("outer".to_owned())
                        .stack_size(1 << 20)
                        .spawn(|scope| {
                            let inner = scope.spawn(|_| numbers.iter().sum::<i32>());
                            inner.join().expect("nothing panics")
                        })
                        .expect("threads can be spawned");
                    assert_eq!(handle.thread().name(), Some("outer"));
                    assert_eq!(format!("{scope:?}"), "Scope { .. }");
                    assert_eq!(format!("{handle:?}"), "ScopedJoinHandle { .. }");
                    handle.join().expect("nothing panics")
                });
                assert_eq!(sum.expect("nothing panics"), 6);
                numbers.push(4);
            }

            #[test]
            fn threads_that_nobody_joins_end_with_the_scope() {
                let cell = AtomicCell::new(0u32);
                scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn(|scope| {
                            scope.spawn(|_| cell.fetch_add(1));
                        });
                    }
                })
                .expect("nothing panics");
                assert_eq!(cell.into_inner(), 4);
            }

            #[test]
            fn panics_are_given_back() {
                let joined = scope(|scope| scope.spawn(|_| panic!("mine")).join().is_err());
                assert!(joined.expect("the panic was seen"));
                let error = scope(|scope| {
                    scope.spawn(|_| panic!("mine"));
                })
                .expect_err("a thread panicked");
                let panics = error.downcast_ref::<Vec<Box<dyn std::any::Any + Send>>>();
                assert_eq!(panics.map(Vec::len), Some(1));
                let own = catch_unwind(|| scope(|_| panic!("own")).is_ok()).expect_err("it panics");
                assert_eq!(own.downcast_ref::<&str>(), Some(&"own"));
            }

            #[test]
            fn cells_of_any_type() {
                static CELL: AtomicCell<u8> = AtomicCell::new(7);
                const VALUE: u8 = AtomicCell::new(9).into_inner();
                assert_eq!((CELL.swap(VALUE), CELL.load()), (7, 9));
                assert_eq!(format!("{CELL:?}"), "AtomicCell { value: 9 }");
                let text = AtomicCell::from("one".to_owned());
                text.store("two".to_owned());
                assert_eq!(text.swap("three".to_owned()), "two");
                assert_eq!(text.take(), "three");
                assert_eq!(text.into_inner(), "");
                assert!(AtomicCell::<u32>::is_lock_free());
                assert!(!AtomicCell::<[u8; 33]>::is_lock_free());
                let pair = AtomicCell::<(u8, char)>::default();
                assert_eq!(pair.compare_exchange((0, '\0'), (1, 'a')), Ok((0, '\0')));
                assert_eq!(pair.compare_exchange((0, '\0'), (2, 'b')), Err((1, 'a')));
                assert_eq!(pair.fetch_update(|(n, c)| Some((n + 1, c))), Ok((1, 'a')));
                assert_eq!(pair.fetch_update(|_| None), Err((2, 'a')));
                // SAFETY: no other thread has the cell.
                unsafe { pair.as_ptr().write((5, 'z')) };
                assert_eq!(pair.load(), (5, 'z'));
            }

            #[test]
            fn cells_of_words() {
                let cell = AtomicCell::new(250u8);
                assert_eq!((cell.fetch_add(10), cell.fetch_sub(5)), (250, 4));
                assert_eq!((cell.fetch_max(3), cell.fetch_min(7)), (255, 255));
                assert_eq!((cell.fetch_and(6), cell.fetch_or(9)), (7, 6));
                assert_eq!((cell.fetch_xor(1), cell.fetch_nand(2)), (15, 14));
                assert_eq!(cell.load(), !2);
                let flag = AtomicCell::new(true);
                assert_eq!((flag.fetch_and(true), flag.fetch_nand(true)), (true, true));
                assert_eq!((flag.fetch_or(true), flag.fetch_xor(true)), (false, true));
                assert!(!flag.load());
            }

            #[test]
            fn equality_may_use_the_cell_itself() {
                static CELL: AtomicCell<Odd> = AtomicCell::new(Odd(3));
                #[derive(Clone, Copy)]
                struct Odd(u64);
                impl PartialEq for Odd {
                    fn eq(&self, other: &Self) -> bool {
                        CELL.load().0 < 100 && self.0 % 2 == other.0 % 2
                    }
                }
                impl Eq for Odd {}
                assert!(CELL.compare_exchange(Odd(4), Odd(5)).is_err_and(|found| found.0 == 3));
                assert!(CELL.compare_exchange(Odd(1), Odd(5)).is_ok_and(|found| found.0 % 2 == 1));
                assert_eq!(CELL.load().0, 5);
            }

            #[test]
            fn atomics_load_what_others_depend_on() {
                use crate::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};

                fn load<T: AtomicConsume>(atomic: T) -> T::Val {
                    atomic.load_consume()
                }
                assert!(load(AtomicBool::new(true)));
                assert_eq!((load(AtomicUsize::new(3)), load(AtomicU64::new(4))), (3, 4));
                assert!(load(AtomicPtr::<u8>::default()).is_null());
            }

            #[test]
            fn cells_can_be_shared_as_far_as_their_contents_can_be_sent() {
                fn check<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
                check::<AtomicCell<std::cell::Cell<u8>>>();
                check::<AtomicCell<&'static str>>();
                fn shared<T: Send + Sync>() {}
                shared::<Scope<'_>>();
                shared::<ScopedJoinHandle<'_, *const u8>>();
            }
        }
    )*};
}

same_for! {
    ours: crate::crossbeam::thread, crate::crossbeam::atomic, crate::crossbeam::utils;
    theirs: crossbeam_utils::thread, crossbeam_utils::atomic, crossbeam_utils;
}

#[cfg(feature = "record")]
mod recorded {
    use crate::child_trace::{events, in_child, replay};
    use crate::crossbeam::atomic::{AtomicCell, AtomicConsume as _};
    use crate::crossbeam::thread::scope;
    use crate::sync::atomic::{AtomicUsize, Ordering};
    use crate::trace::{MemoryOrdering, Op, Value};

    #[test]
    fn threads_and_cells_leave_a_trace_that_can_be_replayed() {
        if in_child() {
            let (count, pair) = (AtomicCell::new(0u32), AtomicCell::new((0u8, 0u8)));
            scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|scope| {
                        scope.spawn(|_| count.fetch_update(|count| Some(count + 1)));
                        count.fetch_add(1);
                        pair.store((1, 2));
                    });
                }
            })
            .expect("nothing panics");
            assert_eq!((count.load(), pair.load()), (8, (1, 2)));
            let word = AtomicUsize::new(0);
            word.store(7, Ordering::Release);
            assert_eq!(word.load_consume(), 7);
            // Its end would be an `exclusive`, of which the cells must leave none.
            std::mem::forget(word);
            return;
        }
        let path = "crossbeam::tests::recorded";
        let trace =
            events(&format!("{path}::threads_and_cells_leave_a_trace_that_can_be_replayed"));
        replay(&trace);
        let count = |keyword| trace.iter().filter(|event| event.op.keyword() == keyword).count();
        assert_eq!((count("fork"), count("join"), count("rmw"), count("cas")), (8, 8, 4, 4));
        assert!(trace.iter().all(|event| !matches!(event.op, Op::Exclusive { .. })));
        // Threads load what their closures bring along in the same way: only this word counts.
        let mut stores = trace.iter().filter_map(|event| match event.op {
            Op::Store { var, value: Value::Nat(7), .. } => Some(var),
            _ => None,
        });
        let word = stores.next_back();
        let acquire = Some(MemoryOrdering::Acquire);
        let consumes = |op: &Op| match op {
            Op::Load { var, ordering, .. } => Some(*var) == word && *ordering == acquire,
            _ => false,
        };
        assert_eq!(trace.iter().filter(|event| consumes(&event.op)).count(), 1);
    }
}
