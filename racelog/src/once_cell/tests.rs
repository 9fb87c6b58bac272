//! The same tests for the crate and, where recording is compiled in, for its mirror.

use ::once_cell as real;

macro_rules! same_for {
    ($($name:ident: $($sync:tt)::+;)*) => {$(
        mod $name {
            use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
            use std::sync::Barrier;
            use std::sync::atomic::{AtomicUsize, Ordering};
            use std::thread;

            use $($sync)::+::{Lazy, OnceCell};

            #[test]
            fn the_first_value_stays() {
                static CELL: OnceCell<String> = OnceCell::new();
                assert_eq!(CELL.get(), None);
                assert_eq!(CELL.try_insert("one".to_owned()), Ok(&"one".to_owned()));
                let late = CELL.try_insert("two".to_owned());
                assert_eq!(late, Err((&"one".to_owned(), "two".to_owned())));
                assert_eq!(CELL.set("two".to_owned()), Err("two".to_owned()));
                assert_eq!(CELL.get_or_init(|| unreachable!()), "one");
                assert_eq!(CELL.wait(), "one");
                // SAFETY: this thread has initialised it.
                assert_eq!(unsafe { CELL.get_unchecked() }, "one");
            }

            #[test]
            fn an_error_or_a_panic_leaves_it_empty() {
                let cell = OnceCell::new();
                assert_eq!(cell.get_or_try_init(|| Err("no")), Err("no"));
                assert_eq!(cell.get(), None);
                assert!(catch_unwind(|| *cell.get_or_init(|| panic!("mine"))).is_err());
                assert_eq!(cell.get(), None);
                assert_eq!(cell.get_or_try_init(|| Ok::<_, ()>(4)), Ok(&4));
                assert_eq!(cell.get_or_try_init(|| Err("no")), Ok(&4));
            }

            #[test]
            fn who_has_it_alone_may_change_it() {
                static FULL: OnceCell<u32> = OnceCell::with_value(1);
                let mut cell = FULL.clone();
                *cell.get_mut().expect("it is made with a value") += 1;
                assert_eq!(cell.take(), Some(2));
                assert_eq!((cell.take(), cell.get_mut()), (None, None));
                assert_eq!(cell.set(3), Ok(()));
                let mut copy = OnceCell::new();
                copy.clone_from(&cell);
                assert_eq!(copy, cell);
                copy.clone_from(&FULL);
                assert_eq!(copy, OnceCell::from(1));
                assert_ne!(copy, OnceCell::default());
                assert_eq!(cell.into_inner(), Some(3));
                let empty = OnceCell::<u32>::new();
                assert_eq!(format!("{empty:?} {copy:?}"), "OnceCell(Uninit) OnceCell(1)");
            }

            #[test]
            fn the_contents_may_borrow_what_goes_at_the_same_time() {
                struct Node<'a>(OnceCell<&'a Node<'a>>);
                let (one, two) = (Node(OnceCell::new()), Node(OnceCell::new()));
                assert!(one.0.set(&two).is_ok() && two.0.set(&one).is_ok());
            }

            #[test]
            fn a_lazy_value_is_made_when_needed() {
                static LAZY: Lazy<String> = Lazy::new(|| "made".to_owned());
                assert_eq!(Lazy::get(&LAZY), None);
                assert_eq!(format!("{LAZY:?}"), r#"Lazy { cell: OnceCell(Uninit), init: ".." }"#);
                assert_eq!(LAZY.len(), 4);
                assert_eq!(Lazy::get(&LAZY).map(String::as_str), Some("made"));
                let mut lazy = Lazy::new(|| 1);
                assert_eq!(Lazy::get_mut(&mut lazy), None);
                *lazy += 1;
                *Lazy::force_mut(&mut lazy) += 1;
                assert_eq!(Lazy::force(&lazy), &3);
                assert_eq!(Lazy::into_value(lazy).ok(), Some(3));
                let unused: Lazy<i32> = Lazy::new(|| 5);
                assert_eq!(Lazy::into_value(unused).map_err(|f| f()), Err(5));
                assert_eq!(*Lazy::<u8>::default(), 0);
            }

            #[test]
            fn a_panic_poisons_a_lazy_value() {
                let mut lazy: Lazy<i32> = Lazy::new(|| panic!("mine"));
                for message in ["mine", "Lazy instance has previously been poisoned"] {
                    let error = catch_unwind(AssertUnwindSafe(|| *lazy)).expect_err("it panics");
                    assert_eq!(error.downcast_ref::<&str>(), Some(&message));
                }
                assert!(catch_unwind(AssertUnwindSafe(|| *Lazy::force_mut(&mut lazy))).is_err());
                assert!(catch_unwind(AssertUnwindSafe(|| Lazy::into_value(lazy).is_ok())).is_err());
            }

            #[test]
            fn it_is_as_safe_to_share_as_its_parts() {
                fn check<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
                check::<OnceCell<String>>();
                check::<Lazy<String>>();
            }

            #[test]
            fn of_many_threads_one_sets_it() {
                const THREADS: usize = 8;
                let (cell, runs) = (OnceCell::new(), AtomicUsize::new(0));
                let barrier = Barrier::new(THREADS);
                thread::scope(|scope| {
                    for thread in 0..THREADS {
                        let (cell, runs, barrier) = (&cell, &runs, &barrier);
                        scope.spawn(move || {
                            barrier.wait();
                            let value = match thread {
                                0 => *cell.wait(),
                                1 => match cell.get_or_try_init(|| Err(())) {
                                    Ok(value) => *value,
                                    Err(()) => *cell.wait(),
                                },
                                _ => *cell.get_or_init(|| {
                                    runs.fetch_add(1, Ordering::Relaxed);
                                    thread
                                }),
                            };
                            assert_eq!(cell.get(), Some(&value));
                        });
                    }
                });
                assert_eq!(runs.into_inner(), 1);
            }
        }
    )*};
}

same_for! {
    ours: crate::once_cell::sync;
    theirs: super::real::sync;
}

#[cfg(feature = "record")]
mod recorded {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use crate::child_trace::{events, in_child, replay};
    use crate::once_cell::sync::{Lazy, OnceCell};
    use crate::thread;
    use crate::trace::{Op, Value};

    #[test]
    fn initialisers_come_one_after_the_other() {
        if in_child() {
            let cell = OnceCell::new();
            assert_eq!(cell.get_or_try_init(|| Err(1)), Err(1));
            assert!(catch_unwind(AssertUnwindSafe(|| *cell.get_or_init(|| panic!()))).is_err());
            assert_eq!(cell.get_or_init(|| 2), &2);
            assert_eq!(cell.get(), Some(&2));
            return;
        }
        let trace = events("once_cell_tests::recorded::initialisers_come_one_after_the_other");
        replay(&trace);
        let seen = trace.iter().filter_map(|event| match event.op {
            Op::Load { value, .. } => Some(("load", value)),
            Op::Store { value, .. } => Some(("store", value)),
            _ => None,
        });
        let (empty, failed, done) = (Value::Nat(0), Value::Nat(1), Value::Opaque);
        let first = [("load", empty), ("store", failed), ("load", failed), ("store", failed)];
        let rest = [("load", failed), ("store", done), ("load", done)];
        assert_eq!(seen.collect::<Vec<_>>(), [&first[..], &rest].concat());
    }

    #[test]
    fn many_threads_leave_a_trace_that_can_be_replayed() {
        if in_child() {
            let (cell, lazy) = (OnceCell::new(), Lazy::new(|| 7));
            thread::scope(|scope| {
                for thread in 0..8 {
                    let (cell, lazy) = (&cell, &lazy);
                    scope.spawn(move || {
                        let failing = cell.get_or_try_init(|| Err(()));
                        assert!(failing.is_err() || failing.is_ok_and(|value| *value < 8));
                        assert!(*cell.get_or_init(|| thread) < 8);
                        assert_eq!(**lazy, 7);
                    });
                }
            });
            return;
        }
        let name = "once_cell_tests::recorded::many_threads_leave_a_trace_that_can_be_replayed";
        replay(&events(name));
    }

    #[test]
    fn a_value_from_the_start_needs_no_event() {
        if in_child() {
            static FULL: OnceCell<u32> = OnceCell::with_value(1);
            assert_eq!((FULL.get(), FULL.wait()), (Some(&1), &1));
            let mut emptied = OnceCell::with_value(2);
            assert_eq!((emptied.take(), emptied.get()), (Some(2), None));
            return;
        }
        let trace = events("once_cell_tests::recorded::a_value_from_the_start_needs_no_event");
        let seen = trace.iter().filter_map(|event| match event.op {
            Op::Load { value, .. } => Some(value),
            Op::Exclusive { .. } => panic!("{event:?}"),
            _ => None,
        });
        assert_eq!(seen.collect::<Vec<_>>(), [Value::Opaque, Value::Opaque, Value::Nat(0)]);
    }
}
