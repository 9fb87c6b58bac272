//! `Mutex`.

use crate::both::for_both;

for_both! {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use root::sync::mpsc::channel;
    use root::sync::{Arc, Mutex, PoisonError, TryLockError};
    use root::thread;

    #[test]
    fn increments_are_not_lost() {
        const THREADS: usize = 4;
        const ROUNDS: usize = 25;
        let counter = Arc::new(Mutex::new(0));
        let (done, all_done) = channel();
        for _ in 0..THREADS {
            let (counter, done) = (Arc::clone(&counter), done.clone());
            thread::spawn(move || {
                for _ in 0..ROUNDS {
                    *counter.lock().unwrap() += 1;
                }
                done.send(()).unwrap();
            });
        }
        for _ in 0..THREADS {
            all_done.recv().unwrap();
        }
        assert_eq!(*counter.lock().unwrap(), THREADS * ROUNDS);
    }

    #[test]
    fn who_holds_it_keeps_others_out() {
        let mutex = Mutex::new(1);
        let guard = mutex.lock().unwrap();
        assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
        thread::scope(|scope| {
            let tried = scope.spawn(|| {
                let error = mutex.try_lock().map(|guard| *guard).unwrap_err();
                (format!("{error:?}"), error.to_string())
            });
            let (debug, text) = tried.join().unwrap();
            assert_eq!(debug, "\"WouldBlock\"");
            assert_eq!(text, "try_lock failed because the operation would block");
        });
        drop(guard);
        *mutex.try_lock().unwrap() = 2;
        assert_eq!(mutex.into_inner().unwrap(), 2);
    }

    #[test]
    fn a_panic_poisons() {
        let mutex = Arc::new(Mutex::new(vec![1]));
        let in_thread = Arc::clone(&mutex);
        let panicked = thread::spawn(move || {
            let mut numbers = in_thread.lock().unwrap();
            numbers.push(2);
            panic!("halfway");
        });
        let payload = panicked.join().unwrap_err();
        assert_eq!(super::super::message(&*payload), "halfway");
        assert!(mutex.is_poisoned());
        assert_eq!(format!("{mutex:?}"), "Mutex { data: [1, 2], poisoned: true, .. }");

        let error = mutex.lock().unwrap_err();
        assert_eq!(error.to_string(), "poisoned lock: another task failed inside");
        assert_eq!(format!("{error:?}"), "PoisonError { .. }");
        assert_eq!(**error.get_ref(), [1, 2]);
        drop(error);
        match mutex.try_lock() {
            Err(TryLockError::Poisoned(mut error)) => error.get_mut().push(3),
            _ => panic!("it is poisoned"),
        };
        mutex.lock().unwrap_or_else(PoisonError::into_inner).push(4);
        assert!(mutex.is_poisoned());

        mutex.clear_poison();
        assert!(!mutex.is_poisoned());
        assert_eq!(*mutex.lock().unwrap(), [1, 2, 3, 4]);
    }

    #[test]
    fn poison_follows_the_value_out() {
        let mut mutex = Mutex::new(5);
        let result = catch_unwind(AssertUnwindSafe(|| {
            let _guard = mutex.lock().unwrap();
            panic!("while it is locked");
        }));
        assert!(result.is_err());
        assert_eq!(mutex.get_mut().map_err(|error| *error.into_inner()), Err(5));
        assert_eq!(mutex.into_inner().map_err(PoisonError::into_inner), Err(5));
    }

    /// A lock that is taken while the thread unwinds has nothing to do with the panic.
    #[test]
    fn a_panic_from_before_does_not_poison() {
        struct LocksInDrop<'a>(&'a Mutex<u32>);
        impl Drop for LocksInDrop<'_> {
            fn drop(&mut self) {
                *self.0.lock().unwrap() += 1;
                assert!(thread::panicking());
            }
        }
        let mutex = Mutex::new(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            let _on_the_way_out = LocksInDrop(&mutex);
            panic!("now");
        }));
        assert!(result.is_err());
        assert!(!mutex.is_poisoned());
        assert_eq!(*mutex.lock().unwrap(), 1);
    }

    #[test]
    fn who_has_it_alone_need_not_lock() {
        let mut mutex = Mutex::new(String::from("a"));
        mutex.get_mut().unwrap().push('b');
        mutex.lock().unwrap().push('c');
        mutex.get_mut().unwrap().push('d');
        assert_eq!(*mutex.lock().unwrap(), "abcd");
        assert_eq!(mutex.into_inner().unwrap(), "abcd");
    }

    #[test]
    fn what_is_shown() {
        let mutex = Mutex::new("text");
        assert_eq!(format!("{mutex:?}"), "Mutex { data: \"text\", poisoned: false, .. }");
        let guard = mutex.lock().unwrap();
        assert_eq!(format!("{mutex:?}"), "Mutex { data: \"<locked>\", poisoned: false, .. }");
        assert_eq!(format!("{guard:?} {guard} {guard:>6}"), "\"text\" text   text");
        drop(guard);
        assert_eq!(format!("{mutex:#?}").lines().count(), 5);
        assert_eq!(format!("{:?}", Mutex::<u8>::default()), format!("{:?}", Mutex::from(0u8)));
    }

    #[test]
    fn a_static_is_shared_by_all() {
        static NAMES: Mutex<Vec<&str>> = Mutex::new(Vec::new());
        let threads =
            ["a", "b", "c"].map(|name| thread::spawn(move || NAMES.lock().unwrap().push(name)));
        for thread in threads {
            thread.join().unwrap();
        }
        let mut names = NAMES.lock().unwrap().clone();
        names.sort_unstable();
        assert_eq!(names, ["a", "b", "c"]);
    }

    /// Two locks, always taken in the same order, and given back in either.
    #[test]
    fn locks_nest() {
        let (from, to) = (Mutex::new(100), Mutex::new(0));
        thread::scope(|scope| {
            for turn in 0..4 {
                let (from, to) = (&from, &to);
                scope.spawn(move || {
                    let (mut from, mut to) = (from.lock().unwrap(), to.lock().unwrap());
                    *from -= turn;
                    *to += turn;
                    if turn % 2 == 0 {
                        drop(from);
                    } else {
                        drop(to);
                    }
                });
            }
        });
        assert_eq!((*from.lock().unwrap(), *to.lock().unwrap()), (94, 6));
    }
}
