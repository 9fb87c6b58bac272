//! `park` and `unpark`.

use crate::both::for_both;

for_both! {
    use std::time::{Duration, Instant};

    use root::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use root::sync::mpsc::channel;
    use root::thread;

    #[test]
    fn a_flag_and_a_wake_up() {
        static FLAG: AtomicBool = AtomicBool::new(false);
        let parked = thread::spawn(|| {
            while !FLAG.load(Ordering::Acquire) {
                thread::park();
            }
        });
        FLAG.store(true, Ordering::Release);
        parked.thread().unpark();
        parked.join().unwrap();
    }

    #[test]
    fn a_token_waits_and_is_only_one() {
        let own = thread::current();
        own.unpark();
        own.unpark();
        thread::park();
        let start = Instant::now();
        let wait = Duration::from_millis(3);
        // There is none left. Whoever parks may wake up early, so this says little for std.
        while start.elapsed() < wait {
            thread::park_timeout(wait);
        }
        #[expect(deprecated)]
        thread::park_timeout_ms(1);
        own.unpark();
        thread::park_timeout(Duration::from_secs(600));
        own.unpark();
        thread::park_timeout(Duration::MAX);
    }

    #[test]
    fn a_handle_can_be_sent() {
        let (handles, received) = channel();
        let turns = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                let (handles, turns) = (handles.clone(), &turns);
                scope.spawn(move || {
                    handles.send(thread::current()).unwrap();
                    while turns.load(Ordering::Acquire) == 0 {
                        thread::park();
                    }
                    turns.fetch_add(1, Ordering::Relaxed);
                });
            }
            let waiting: Vec<_> = received.iter().take(3).collect();
            turns.store(1, Ordering::Release);
            for thread in waiting {
                thread.unpark();
            }
        });
        assert_eq!(turns.into_inner(), 4);
    }

    #[test]
    fn two_wake_each_other() {
        let turn = AtomicUsize::new(0);
        let first = thread::current();
        thread::scope(|scope| {
            let second = scope.spawn(|| {
                for round in 0..10 {
                    while turn.load(Ordering::Acquire) != 2 * round + 1 {
                        thread::park();
                    }
                    turn.fetch_add(1, Ordering::Release);
                    first.unpark();
                }
            });
            for round in 0..10 {
                turn.fetch_add(1, Ordering::Release);
                second.thread().unpark();
                while turn.load(Ordering::Acquire) != 2 * round + 2 {
                    thread::park();
                }
            }
        });
        assert_eq!(turn.into_inner(), 20);
    }

    #[test]
    fn a_thread_that_is_gone_can_be_woken() {
        let thread = thread::spawn(thread::current).join().unwrap();
        thread.unpark();
        assert_ne!(thread.id(), thread::current().id());
    }
}
