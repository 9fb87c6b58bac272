//! `Once`, `OnceLock` and `LazyLock`.

use crate::both::for_both;

for_both! {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use root::sync::atomic::{AtomicUsize, Ordering};
    use root::sync::{Barrier, LazyLock, Mutex, Once, OnceLock};
    use root::thread;

    #[test]
    fn it_runs_once() {
        static ONCE: Once = Once::new();
        let runs = AtomicUsize::new(0);
        assert!(!ONCE.is_completed());
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    ONCE.call_once(|| {
                        runs.fetch_add(1, Ordering::Relaxed);
                    });
                    assert_eq!(runs.load(Ordering::Relaxed), 1);
                    ONCE.wait();
                });
            }
        });
        assert!(ONCE.is_completed());
        assert_eq!(format!("{ONCE:?}"), "Once { .. }");
    }

    #[test]
    fn a_panic_poisons_until_it_is_forced() {
        let once = Once::new();
        let fails = || catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!("first"))));
        assert_eq!(super::super::message(&*fails().unwrap_err()), "first");
        let text = "Once instance has previously been poisoned";
        assert_eq!(super::super::message(&*fails().unwrap_err()), text);
        assert!(catch_unwind(AssertUnwindSafe(|| once.wait())).is_err());
        assert!(!once.is_completed());
        thread::scope(|scope| {
            let waits = scope.spawn(|| once.wait_force());
            once.call_once_force(|state| {
                assert!(state.is_poisoned());
                assert_eq!(format!("{state:?}"), "OnceState { poisoned: true }");
            });
            waits.join().unwrap();
        });
        assert!(once.is_completed());
        once.call_once(|| unreachable!("it is done"));
        once.call_once_force(|_| unreachable!("it is done"));
    }

    #[test]
    fn the_first_value_stays() {
        static CELL: OnceLock<String> = OnceLock::new();
        assert_eq!(CELL.get(), None);
        let setter = thread::spawn(|| {
            assert_eq!(CELL.get_or_init(|| "set".to_owned()), "set");
        });
        assert_eq!(CELL.wait(), "set");
        assert_eq!(CELL.set("late".to_owned()), Err("late".to_owned()));
        assert_eq!(CELL.get_or_init(|| unreachable!("it is set")), "set");
        setter.join().unwrap();
        assert_eq!(CELL.get().map(String::as_str), Some("set"));
    }

    #[test]
    fn of_many_one_sets_it() {
        const THREADS: usize = 4;
        let (cell, barrier) = (OnceLock::new(), Barrier::new(THREADS));
        let winners: Vec<usize> = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|own| {
                    let (cell, barrier) = (&cell, &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        (cell.set(own).is_ok(), *cell.get().unwrap())
                    })
                })
                .collect();
            let results = threads.into_iter().map(|thread| thread.join().unwrap());
            results.filter_map(|(won, value)| won.then_some(value)).collect()
        });
        assert_eq!(winners, [*cell.get().unwrap()]);
    }

    #[test]
    fn a_panic_leaves_the_cell_empty() {
        let cell = OnceLock::new();
        let result = catch_unwind(AssertUnwindSafe(|| *cell.get_or_init(|| panic!("not now"))));
        assert_eq!(super::super::message(&*result.unwrap_err()), "not now");
        assert_eq!(cell.get(), None);
        assert_eq!(*cell.get_or_init(|| 5), 5);
    }

    #[test]
    fn who_has_the_cell_alone_may_change_it() {
        let mut cell = OnceLock::from(1);
        *cell.get_mut().unwrap() += 1;
        let copy = cell.clone();
        assert_eq!(cell, copy);
        assert_eq!(cell.take(), Some(2));
        assert_ne!(cell, copy);
        assert_eq!((cell.take(), cell.get_mut()), (None, None));
        cell.set(7).unwrap();
        assert_eq!(format!("{cell:?}"), "OnceLock(7)");
        assert_eq!(format!("{:?}", OnceLock::<u8>::default()), "OnceLock(<uninit>)");
        assert_eq!((cell.into_inner(), copy.into_inner()), (Some(7), Some(2)));
    }

    #[test]
    fn a_static_is_made_when_first_used() {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        static TABLE: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(|| {
            RUNS.fetch_add(1, Ordering::Relaxed);
            Mutex::new(vec![1])
        });
        assert!(LazyLock::get(&TABLE).is_none());
        thread::scope(|scope| {
            for number in 2..5 {
                scope.spawn(move || TABLE.lock().unwrap().push(number));
            }
        });
        assert_eq!(TABLE.lock().unwrap().iter().sum::<u32>(), 10);
        assert!(LazyLock::get(&TABLE).is_some());
        assert_eq!(RUNS.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_lazy_value_that_fails_is_lost() {
        let lazy: LazyLock<u32> = LazyLock::new(|| panic!("first"));
        let uses = || catch_unwind(AssertUnwindSafe(|| *lazy)).unwrap_err();
        assert_eq!(super::super::message(&*uses()), "first");
        let text = "LazyLock instance has previously been poisoned";
        assert_eq!(super::super::message(&*uses()), text);
        assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
    }

    #[test]
    fn who_has_the_lazy_value_alone_may_change_it() {
        let mut lazy = LazyLock::new(|| 1);
        assert_eq!(LazyLock::get_mut(&mut lazy), None);
        *LazyLock::force_mut(&mut lazy) += 1;
        *lazy += 1;
        assert_eq!((*LazyLock::force(&lazy), format!("{lazy:?}")), (3, "LazyLock(3)".to_owned()));
    }
}
