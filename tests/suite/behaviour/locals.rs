//! `thread_local!`.

use crate::both::for_both;

for_both! {
    use std::cell::{Cell, RefCell};

    use root::sync::{Arc, Mutex};
    use root::thread;

    #[test]
    fn each_thread_has_its_own() {
        root::thread_local! {
            static COUNT: Cell<u32> = const { Cell::new(10) };
            static NAMES: RefCell<Vec<String>> = RefCell::default();
        }
        COUNT.set(COUNT.get() + 1);
        NAMES.with_borrow_mut(|names| names.push("outer".to_owned()));
        let seen = thread::spawn(|| {
            COUNT.set(COUNT.get() + 5);
            (COUNT.take(), NAMES.with_borrow(Vec::len))
        });
        assert_eq!(seen.join().unwrap(), (15, 0));
        assert_eq!((COUNT.replace(0), NAMES.take()), (11, vec!["outer".to_owned()]));
    }

    static GOODBYES: Mutex<Vec<&str>> = Mutex::new(Vec::new());

    struct Goodbye(&'static str);

    impl Drop for Goodbye {
        fn drop(&mut self) {
            GOODBYES.lock().unwrap().push(self.0);
        }
    }

    root::thread_local! {
        static GOODBYE: RefCell<Option<Goodbye>> = const { RefCell::new(None) };
    }

    /// Also after the closure is done a thread may lock, and who joins it sees what it did then.
    #[test]
    fn destructors_may_lock() {
        for name in ["first", "second"] {
            thread::spawn(move || {
                GOODBYE.set(Some(Goodbye(name)));
                assert!(!GOODBYES.lock().unwrap().contains(&name));
            })
            .join()
            .unwrap();
            assert!(GOODBYES.lock().unwrap().contains(&name));
        }
        let panics = thread::spawn(|| {
            GOODBYE.set(Some(Goodbye("panicked")));
            panic!("its locals go, too");
        });
        assert!(panics.join().is_err());
        assert_eq!(*GOODBYES.lock().unwrap(), ["first", "second", "panicked"]);
    }

    /// What goes away late in a thread's life may still use everything.
    #[test]
    fn destructors_may_use_threads_and_channels() {
        use root::sync::mpsc::{Sender, channel};

        struct Sends(Sender<Option<String>>);
        impl Drop for Sends {
            fn drop(&mut self) {
                let inner = thread::spawn(|| thread::current().name().map(str::to_owned));
                let _ = thread::current().id();
                self.0.send(inner.join().unwrap()).unwrap();
            }
        }
        root::thread_local! {
            static SENDS: RefCell<Option<Sends>> = const { RefCell::new(None) };
        }
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || SENDS.set(Some(Sends(sender))));
        assert_eq!(receiver.recv(), Ok(None));
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
    }

    #[test]
    fn a_local_that_is_gone_says_so() {
        struct Looks(Arc<Mutex<Vec<bool>>>);
        impl Drop for Looks {
            fn drop(&mut self) {
                self.0.lock().unwrap().push(LOOKS.try_with(|_| ()).is_err());
            }
        }
        root::thread_local! {
            static LOOKS: RefCell<Option<Looks>> = const { RefCell::new(None) };
        }
        let seen = Arc::new(Mutex::new(Vec::new()));
        let inside = Arc::clone(&seen);
        thread::spawn(move || LOOKS.set(Some(Looks(inside)))).join().unwrap();
        assert_eq!(*seen.lock().unwrap(), [true]);
    }

    /// A scope does not wait for the locals of its threads: what they do then can come after it.
    #[test]
    fn destructors_of_scoped_threads_may_lock() {
        struct Locks(Arc<Mutex<u32>>);
        impl Drop for Locks {
            fn drop(&mut self) {
                *self.0.lock().unwrap() += 1;
            }
        }
        root::thread_local! {
            static LOCKS: RefCell<Option<Locks>> = const { RefCell::new(None) };
        }
        let count = Arc::new(Mutex::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| LOCKS.set(Some(Locks(Arc::clone(&count)))));
            }
        });
        while *count.lock().unwrap() < 3 {
            thread::yield_now();
        }
    }
}
