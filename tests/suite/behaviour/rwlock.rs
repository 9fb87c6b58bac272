//! `RwLock`.

use crate::both::for_both;

for_both! {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use root::sync::{Arc, Barrier, PoisonError, RwLock, RwLockWriteGuard, TryLockError};
    use root::thread;

    #[test]
    fn readers_share() {
        let (lock, barrier) = (RwLock::new(5), Barrier::new(3));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let guard = lock.read().unwrap();
                    // All three are in here at once, or nobody gets further.
                    barrier.wait();
                    assert_eq!(*guard, 5);
                });
            }
        });
    }

    #[test]
    fn a_writer_is_alone() {
        let lock = RwLock::new(1);
        {
            let first = lock.read().unwrap();
            let second = lock.try_read().unwrap();
            assert_eq!(*first + *second, 2);
            assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
        }
        let mut writer = lock.write().unwrap();
        *writer += 1;
        assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
        assert!(matches!(lock.try_read(), Err(TryLockError::WouldBlock)));
        thread::scope(|scope| {
            let refused = scope.spawn(|| (lock.try_read().is_err(), lock.try_write().is_err()));
            assert_eq!(refused.join().unwrap(), (true, true));
        });
        drop(writer);
        *lock.try_write().unwrap() += 1;
        assert_eq!(lock.into_inner().unwrap(), 3);
    }

    #[test]
    fn writes_are_not_lost() {
        let lock = Arc::new(RwLock::new((0, 0)));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let lock = Arc::clone(&lock);
                thread::spawn(move || {
                    for _ in 0..10 {
                        let (left, right) = *lock.read().unwrap();
                        assert_eq!(left, right);
                        let mut pair = lock.write().unwrap();
                        pair.0 += 1;
                        pair.1 += 1;
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(*lock.read().unwrap(), (40, 40));
    }

    #[test]
    fn a_writer_becomes_a_reader_at_once() {
        let lock = RwLock::new(0);
        let mut writer = lock.write().unwrap();
        *writer = 7;
        thread::scope(|scope| {
            let waiting = scope.spawn(|| *lock.read().unwrap());
            let reader = RwLockWriteGuard::downgrade(writer);
            assert_eq!(waiting.join().unwrap(), 7);
            assert!(lock.try_write().is_err());
            assert_eq!((*reader, *lock.try_read().unwrap()), (7, 7));
        });
        *lock.write().unwrap() += 1;
        assert_eq!(*lock.read().unwrap(), 8);
    }

    #[test]
    fn a_panic_of_a_writer_poisons() {
        let mut lock = RwLock::new(1);
        let result = catch_unwind(AssertUnwindSafe(|| {
            *lock.write().unwrap() = 2;
            let _guard = lock.write().unwrap();
            panic!("while it is locked");
        }));
        assert!(result.is_err());
        assert!(lock.is_poisoned());
        assert_eq!(format!("{lock:?}"), "RwLock { data: 2, poisoned: true, .. }");
        assert_eq!(*lock.read().unwrap_err().into_inner(), 2);
        assert!(matches!(lock.try_read(), Err(TryLockError::Poisoned(_))));
        assert!(matches!(lock.try_write(), Err(TryLockError::Poisoned(_))));
        *lock.write().unwrap_or_else(PoisonError::into_inner) = 3;
        assert_eq!(lock.get_mut().map_err(|error| *error.into_inner()), Err(3));
        lock.clear_poison();
        assert!(!lock.is_poisoned());
        assert_eq!(lock.into_inner().unwrap(), 3);
    }

    #[test]
    fn a_panic_of_a_reader_does_not_poison() {
        let lock = RwLock::new(1);
        let result = catch_unwind(AssertUnwindSafe(|| {
            let _guard = lock.read().unwrap();
            panic!("while it is read");
        }));
        assert!(result.is_err());
        let result = catch_unwind(AssertUnwindSafe(|| {
            let _guard = RwLockWriteGuard::downgrade(lock.write().unwrap());
            panic!("while it is read, after it was written");
        }));
        assert!(result.is_err());
        assert!(!lock.is_poisoned());
        assert_eq!(*lock.write().unwrap(), 1);
    }

    #[test]
    fn what_is_shown() {
        let lock = RwLock::new("text");
        assert_eq!(format!("{lock:?}"), "RwLock { data: \"text\", poisoned: false, .. }");
        let guard = lock.read().unwrap();
        assert_eq!(format!("{guard:?} {guard}"), "\"text\" text");
        assert_eq!(format!("{lock:?}"), "RwLock { data: \"text\", poisoned: false, .. }");
        drop(guard);
        let guard = lock.write().unwrap();
        assert_eq!(format!("{guard:?} {guard}"), "\"text\" text");
        assert_eq!(format!("{lock:?}"), "RwLock { data: <locked>, poisoned: false, .. }");
        drop(guard);
        assert_eq!(format!("{:?}", RwLock::<u8>::default()), format!("{:?}", RwLock::from(0u8)));
    }

    #[test]
    fn a_static_is_shared_by_all() {
        static LATEST: RwLock<Option<u32>> = RwLock::new(None);
        let writer = thread::spawn(|| *LATEST.write().unwrap() = Some(3));
        writer.join().unwrap();
        assert_eq!(*LATEST.read().unwrap(), Some(3));
    }
}
