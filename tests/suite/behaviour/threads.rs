//! `spawn`, `Builder` and the handles of threads.

use crate::both::for_both;

for_both! {
    use std::collections::HashSet;
    use std::panic::resume_unwind;

    use root::sync::mpsc::channel;
    use root::sync::{Arc, Mutex};
    use root::thread::{self, Builder};

    #[test]
    fn results_come_back() {
        let threads: Vec<_> = (0..4).map(|n| thread::spawn(move || n * n)).collect();
        let squares: Vec<i32> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(squares, [0, 1, 4, 9]);
    }

    #[test]
    fn what_a_thread_panics_with_arrives() {
        let text = thread::spawn(|| panic!("plain")).join().unwrap_err();
        assert_eq!(text.downcast_ref::<&str>(), Some(&"plain"));
        let number = 3;
        let made = thread::spawn(move || panic!("number {number}")).join().unwrap_err();
        assert_eq!(made.downcast_ref::<String>().map(String::as_str), Some("number 3"));
        let other = thread::spawn(|| resume_unwind(Box::new(7u8))).join().unwrap_err();
        assert_eq!(other.downcast_ref::<u8>(), Some(&7));
    }

    #[test]
    fn names_and_ids() {
        let builder = Builder::new().name("worker".to_owned()).stack_size(256 * 1024);
        let worker = builder
            .spawn(|| {
                let own = thread::current();
                assert_eq!(own.name(), Some("worker"));
                assert_eq!(own.id(), std::thread::current().id());
                own.id()
            })
            .unwrap();
        assert_eq!(worker.thread().name(), Some("worker"));
        assert_eq!(format!("{worker:?}"), "JoinHandle { .. }");
        let id = worker.thread().id();
        assert_eq!(worker.join().unwrap(), id);
        let nameless = thread::spawn(|| thread::current().name().map(str::to_owned));
        assert_eq!(nameless.thread().name(), None);
        assert_eq!(nameless.join().unwrap(), None);
        let ids: HashSet<_> = [id, thread::current().id(), thread::current().id()].into();
        assert_eq!(ids.len(), 2);
        let own = thread::current();
        let start = format!("Thread {{ id: {:?}, name: {:?}", own.id(), own.name());
        assert!(format!("{own:?}").starts_with(&start));
    }

    #[test]
    #[should_panic = "thread name may not contain interior null bytes"]
    fn names_have_no_zeros() {
        let _ = Builder::new().name("a\0b".to_owned()).spawn(|| ());
    }

    #[test]
    fn whether_it_is_finished_can_be_seen() {
        let (go, wait) = channel::<()>();
        let thread = thread::spawn(move || wait.recv().is_err());
        assert!(!thread.is_finished());
        drop(go);
        while !thread.is_finished() {
            thread::yield_now();
        }
        assert!(thread.join().unwrap());
        let panics = thread::spawn(|| panic!("finished, too"));
        while !panics.is_finished() {
            thread::yield_now();
        }
        assert!(panics.join().is_err());
    }

    #[test]
    fn what_a_closure_owns_goes_with_it() {
        let token = Arc::new(Mutex::new(1));
        let inside = Arc::clone(&token);
        let thread = thread::spawn(move || {
            *inside.lock().unwrap() += 1;
            inside
        });
        let back = thread.join().unwrap();
        assert!(Arc::ptr_eq(&token, &back));
        drop(back);
        assert_eq!(Arc::into_inner(token).unwrap().into_inner().unwrap(), 2);
        let token = Arc::new(());
        let inside = Arc::clone(&token);
        thread::spawn(move || drop(inside)).join().unwrap();
        assert_eq!(Arc::strong_count(&token), 1);
    }

    #[test]
    fn nobody_need_join() {
        let (sender, receiver) = channel();
        drop(thread::spawn(move || sender.send("still here").unwrap()));
        assert_eq!(receiver.recv(), Ok("still here"));
    }

    #[test]
    fn threads_of_threads() {
        let outer = thread::spawn(|| {
            let inner: Vec<_> = (0..3).map(|n| thread::spawn(move || n)).collect();
            inner.into_iter().map(|thread| thread.join().unwrap()).sum::<i32>()
        });
        assert_eq!(outer.join().unwrap(), 3);
    }

    /// Who joins need not be who spawned.
    #[test]
    fn a_handle_can_be_handed_on() {
        let first = thread::spawn(|| 1);
        let second = thread::spawn(move || first.join().unwrap() + 1);
        assert_eq!(second.join().unwrap(), 2);
    }

    #[test]
    fn odds_and_ends() {
        assert!(!thread::panicking());
        assert!(thread::available_parallelism().unwrap().get() > 0);
        thread::yield_now();
        thread::sleep(std::time::Duration::ZERO);
        root::hint::spin_loop();
    }
}
