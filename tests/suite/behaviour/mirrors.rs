//! What the documentation of `parking_lot`, `once_cell` and `crossbeam` shows, done with their
//! mirrors.

use racelog::thread;

mod parking_lot {
    use std::sync::Arc;
    use std::time::Duration;

    use racelog::parking_lot::{
        Condvar, FairMutex, MappedMutexGuard, Mutex, MutexGuard, Once, ReentrantMutex, RwLock,
        RwLockUpgradableReadGuard, RwLockWriteGuard, const_mutex,
    };

    use super::thread;

    /// Ten threads count under a lock; the one that comes last says so.
    #[test]
    fn the_last_of_ten_notices() {
        const THREADS: usize = 10;
        let data = Arc::new(Mutex::new(0));
        let (last, noticed) = racelog::sync::mpsc::channel();
        for _ in 0..THREADS {
            let (data, last) = (Arc::clone(&data), last.clone());
            thread::spawn(move || {
                let mut data = data.lock();
                *data += 1;
                if *data == THREADS {
                    last.send(()).unwrap();
                }
            });
        }
        noticed.recv().unwrap();
        assert_eq!(*data.lock(), THREADS);
    }

    #[test]
    fn a_static_needs_no_initialiser() {
        static NAMES: Mutex<Vec<&str>> = const_mutex(Vec::new());
        NAMES.lock().push("name");
        assert_eq!(NAMES.try_lock().expect("nobody has it").len(), 1);
    }

    #[test]
    fn many_readers_or_one_writer() {
        let lock = RwLock::new(5);
        {
            let (first, second) = (lock.read(), lock.read());
            assert_eq!((*first, *second), (5, 5));
            assert!(lock.try_write().is_none());
        }
        *lock.write() += 1;
        let upgradable = lock.upgradable_read();
        assert_eq!(*upgradable, 6);
        let mut writer = RwLockUpgradableReadGuard::upgrade(upgradable);
        *writer += 1;
        assert_eq!(*RwLockWriteGuard::downgrade(writer), 7);
    }

    /// A flag and a condvar: the waiter sleeps until the flag is set.
    #[test]
    fn a_condvar_waits_for_a_flag() {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&pair);
        let setter = thread::spawn(move || {
            let (started, changed) = &*other;
            *started.lock() = true;
            changed.notify_one();
        });
        let (started, changed) = &*pair;
        let mut guard = started.lock();
        while !*guard {
            changed.wait(&mut guard);
        }
        assert!(changed.wait_for(&mut guard, Duration::from_millis(1)).timed_out());
        drop(guard);
        setter.join().unwrap();
    }

    #[test]
    fn once_is_for_initialisation() {
        static START: Once = Once::new();
        static VALUE: Mutex<u32> = const_mutex(0);
        let threads = [(); 3].map(|()| thread::spawn(|| START.call_once(|| *VALUE.lock() += 1)));
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(*VALUE.lock(), 1);
    }

    #[test]
    fn a_guard_can_be_narrowed() {
        let lock = Mutex::new((1, "one"));
        let mut number: MappedMutexGuard<'_, i32> =
            MutexGuard::map(lock.lock(), |pair| &mut pair.0);
        *number = 2;
        drop(number);
        assert_eq!(*lock.lock(), (2, "one"));
        MutexGuard::unlock_fair(lock.lock());
    }

    #[test]
    fn fair_and_reentrant_ones() {
        let fair = FairMutex::new(1);
        *fair.lock() += 1;
        assert_eq!(fair.into_inner(), 2);
        let reentrant = ReentrantMutex::new(3);
        let (outer, inner) = (reentrant.lock(), reentrant.lock());
        assert_eq!(*outer + *inner, 6);
    }
}

mod once_cell {
    use racelog::once_cell::sync::{Lazy, OnceCell};
    use racelog::sync::Mutex;

    use super::thread;

    #[derive(Debug, PartialEq, Eq)]
    struct Settings {
        level: u32,
    }

    static SETTINGS: OnceCell<Settings> = OnceCell::new();

    /// Set from the outside, once, and read from everywhere.
    #[test]
    fn a_global_is_set_once() {
        assert!(SETTINGS.get().is_none());
        thread::spawn(|| SETTINGS.set(Settings { level: 2 }).unwrap()).join().unwrap();
        assert_eq!(SETTINGS.get(), Some(&Settings { level: 2 }));
        assert!(SETTINGS.set(Settings { level: 3 }).is_err());
    }

    #[test]
    fn the_first_one_initialises() {
        let cell = OnceCell::new();
        thread::scope(|scope| {
            for number in 0..3 {
                let cell = &cell;
                scope.spawn(move || cell.get_or_init(|| number));
            }
        });
        assert!(*cell.get().expect("somebody has been first") < 3);
        let empty = OnceCell::<u32>::new();
        assert_eq!(empty.get_or_try_init(|| Err("not today")), Err("not today"));
        assert_eq!(empty.get_or_init(|| 5), &5);
    }

    /// A table that is made when it is first looked at.
    #[test]
    fn a_lazy_table() {
        static TABLE: Lazy<Mutex<Vec<u32>>> = Lazy::new(|| Mutex::new(vec![1, 4, 9]));
        let other = thread::spawn(|| TABLE.lock().unwrap().push(16));
        other.join().unwrap();
        assert_eq!(TABLE.lock().unwrap().iter().sum::<u32>(), 30);
        assert!(Lazy::get(&TABLE).is_some());
    }
}

mod crossbeam {
    use racelog::crossbeam::atomic::AtomicCell;
    use racelog::crossbeam::channel::{TryRecvError, bounded, select, unbounded};
    use racelog::crossbeam::thread as scoped;
    use racelog::crossbeam::utils::{Backoff, CachePadded};

    use super::thread;

    /// Threads that borrow what their scope has, and threads of theirs.
    #[test]
    fn scoped_threads_borrow() {
        let people = ["Ada".to_owned(), "Grace".to_owned()];
        let lengths = scoped::scope(|scope| {
            let inner = scope.spawn(|scope| scope.spawn(|_| people[1].len()).join().unwrap());
            people[0].len() + inner.join().unwrap()
        });
        assert_eq!(lengths.unwrap(), 8);
    }

    #[test]
    fn messages_come_in_order() {
        let (sender, receiver) = unbounded();
        let producer = thread::spawn(move || (1..=3).for_each(|n| sender.send(n).unwrap()));
        assert_eq!(receiver.iter().collect::<Vec<u32>>(), [1, 2, 3]);
        producer.join().unwrap();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    }

    #[test]
    fn a_bounded_channel_makes_its_sender_wait() {
        let (sender, receiver) = bounded(1);
        let second = sender.clone();
        sender.send("first").unwrap();
        assert!(sender.try_send("no room").is_err());
        let other = thread::spawn(move || second.send("second").unwrap());
        drop(sender);
        assert_eq!(receiver.into_iter().collect::<Vec<_>>(), ["first", "second"]);
        other.join().unwrap();
    }

    /// A worker goes on with what comes, until it is told to stop.
    #[test]
    fn a_worker_selects_what_comes_next() {
        let ((jobs, queue), (stop, stopped)) = (unbounded(), bounded::<()>(0));
        let worker = thread::spawn(move || {
            let mut sum = 0u32;
            loop {
                select! {
                    recv(queue) -> job => match job {
                        Ok(job) => sum += job,
                        Err(_) => break,
                    },
                    recv(stopped) -> _ => break,
                }
            }
            sum + queue.try_iter().sum::<u32>()
        });
        (1..=10).for_each(|job| jobs.send(job).unwrap());
        stop.send(()).unwrap();
        assert_eq!(worker.join().unwrap(), 55);
    }

    #[test]
    fn a_cell_of_any_type() {
        let cell = AtomicCell::new(7u32);
        assert_eq!(cell.swap(8), 7);
        assert_eq!(cell.compare_exchange(1, 2), Err(8));
        assert_eq!(cell.fetch_add(2), 8);
        assert_eq!(cell.load(), 10);
        cell.store(1);
        assert_eq!(cell.into_inner(), 1);
    }

    /// Spins until another thread is done.
    #[test]
    fn backing_off_until_a_flag_is_set() {
        let ready = CachePadded::new(AtomicCell::new(false));
        thread::scope(|scope| {
            scope.spawn(|| ready.store(true));
            let backoff = Backoff::new();
            while !ready.load() {
                backoff.snooze();
            }
        });
        assert!(ready.load());
    }
}
