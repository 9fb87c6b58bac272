//! `thread::scope`.

use crate::both::for_both;

for_both! {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use root::sync::Mutex;
    use root::sync::atomic::{AtomicUsize, Ordering};
    use root::thread::{self, Builder, Scope};

    #[test]
    fn threads_borrow() {
        let mut numbers = vec![1, 2, 3];
        let mut sum = 0;
        let result = thread::scope(|scope| {
            let length = scope.spawn(|| numbers.len());
            scope.spawn(|| sum += numbers.iter().sum::<i32>());
            length.join().unwrap()
        });
        numbers.push(4);
        assert_eq!((result, sum, numbers.len()), (3, 6, 4));
    }

    #[test]
    fn halves_are_changed_by_two() {
        let mut numbers = [0; 8];
        let (left, right) = numbers.split_at_mut(4);
        thread::scope(|scope| {
            scope.spawn(|| left.fill(1));
            scope.spawn(|| right.fill(2));
        });
        assert_eq!(numbers, [1, 1, 1, 1, 2, 2, 2, 2]);
    }

    #[test]
    fn threads_spawn_threads() {
        let count = AtomicUsize::new(0);
        fn grow<'s>(scope: &'s Scope<'s, '_>, count: &'s AtomicUsize, depth: usize) {
            count.fetch_add(1, Ordering::Relaxed);
            if depth > 0 {
                for _ in 0..2 {
                    scope.spawn(move || grow(scope, count, depth - 1));
                }
            }
        }
        thread::scope(|scope| grow(scope, &count, 2));
        assert_eq!(count.into_inner(), 7);
    }

    #[test]
    fn scopes_nest() {
        let total = Mutex::new(0);
        thread::scope(|outer| {
            for _ in 0..2 {
                outer.spawn(|| {
                    let mut own = [0; 2];
                    thread::scope(|inner| {
                        for (at, slot) in own.iter_mut().enumerate() {
                            inner.spawn(move || *slot = at + 1);
                        }
                    });
                    *total.lock().unwrap() += own.iter().sum::<usize>();
                });
            }
        });
        assert_eq!(total.into_inner().unwrap(), 6);
    }

    #[test]
    fn a_panic_that_is_joined_is_over() {
        let value = thread::scope(|scope| {
            let panics = scope.spawn(|| panic!("told {}", "you"));
            let payload = panics.join().unwrap_err();
            assert_eq!(super::super::message(&*payload), "told you");
            5
        });
        assert_eq!(value, 5);
    }

    #[test]
    fn a_panic_that_is_not_joined_is_the_scopes() {
        let others = AtomicUsize::new(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            thread::scope(|scope| {
                scope.spawn(|| panic!("mine"));
                scope.spawn(|| others.fetch_add(1, Ordering::Relaxed));
            });
        }));
        assert_eq!(super::super::message(&*result.unwrap_err()), "a scoped thread panicked");
        assert_eq!(others.into_inner(), 1);
    }

    #[test]
    fn a_panic_of_the_scope_waits_for_the_threads() {
        let done = AtomicUsize::new(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| done.fetch_add(1, Ordering::Relaxed));
                }
                panic!("the scope itself");
            });
        }));
        assert_eq!(super::super::message(&*result.unwrap_err()), "the scope itself");
        assert_eq!(done.into_inner(), 3);
    }

    #[test]
    fn handles_know_their_thread() {
        thread::scope(|scope| {
            let named = Builder::new().name("named".to_owned()).spawn_scoped(scope, || {
                let current = thread::current();
                (current.id(), current.name().map(str::to_owned))
            });
            let named = named.unwrap();
            assert_eq!(named.thread().name(), Some("named"));
            let id = named.thread().id();
            assert_eq!(format!("{named:?}"), "ScopedJoinHandle { .. }");
            while !named.is_finished() {
                thread::yield_now();
            }
            assert_eq!(named.join().unwrap(), (id, Some("named".to_owned())));
            assert!(scope.spawn(|| 1).thread().name().is_none());
        });
    }
}
