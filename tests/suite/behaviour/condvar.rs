//! `Condvar`.

use crate::both::for_both;

for_both! {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::{Duration, Instant};

    use root::sync::{Arc, Condvar, Mutex};
    use root::thread;

    const SHORT: Duration = Duration::from_millis(3);
    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn a_signal_arrives() {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let in_thread = Arc::clone(&pair);
        let signaller = thread::spawn(move || {
            let (ready, changed) = &*in_thread;
            *ready.lock().unwrap() = true;
            changed.notify_one();
        });
        let (ready, changed) = &*pair;
        let mut is_ready = ready.lock().unwrap();
        while !*is_ready {
            is_ready = changed.wait(is_ready).unwrap();
        }
        assert!(*is_ready);
        drop(is_ready);
        signaller.join().unwrap();
    }

    #[test]
    fn two_take_turns() {
        let (turn, changed) = (Mutex::new(0), Condvar::new());
        thread::scope(|scope| {
            for own in 0..2 {
                let (turn, changed) = (&turn, &changed);
                scope.spawn(move || {
                    for _ in 0..10 {
                        let now = turn.lock().unwrap();
                        let mut now = changed.wait_while(now, |now| *now % 2 != own).unwrap();
                        *now += 1;
                        drop(now);
                        changed.notify_one();
                    }
                });
            }
        });
        assert_eq!(turn.into_inner().unwrap(), 20);
    }

    #[test]
    fn all_are_woken() {
        const THREADS: usize = 4;
        let (state, changed) = (Mutex::new((0, false)), Condvar::new());
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    let mut guard = state.lock().unwrap();
                    guard.0 += 1;
                    changed.notify_all();
                    drop(changed.wait_while(guard, |(_, open)| !*open).unwrap());
                });
            }
            // All wait, or are about to with the lock held, before the gate opens.
            let guard = state.lock().unwrap();
            let mut guard = changed.wait_while(guard, |(here, _)| *here < THREADS).unwrap();
            guard.1 = true;
            changed.notify_all();
        });
    }

    #[test]
    fn time_runs_out() {
        let (mutex, changed) = (Mutex::new(4), Condvar::new());
        let start = Instant::now();
        let (guard, result) =
            changed.wait_timeout_while(mutex.lock().unwrap(), SHORT, |_| true).unwrap();
        assert!(result.timed_out());
        assert!(start.elapsed() >= SHORT);
        assert_eq!(format!("{result:?}"), "WaitTimeoutResult(true)");
        // Nobody notifies, but a condvar may wake up without that: then try again.
        let mut waited = changed.wait_timeout(guard, SHORT).unwrap();
        while !waited.1.timed_out() {
            waited = changed.wait_timeout(waited.0, SHORT).unwrap();
        }
        assert_eq!(*waited.0, 4);
        #[expect(deprecated)]
        let mut waited = changed.wait_timeout_ms(waited.0, 1).unwrap();
        while waited.1 {
            #[expect(deprecated)]
            let again = changed.wait_timeout_ms(waited.0, 1).unwrap();
            waited = again;
        }
        let (guard, result) =
            changed.wait_timeout_while(waited.0, Duration::ZERO, |_| true).unwrap();
        assert!(result.timed_out());
        let (_guard, result) = changed.wait_timeout_while(guard, SHORT, |_| false).unwrap();
        assert!(!result.timed_out());
        assert_eq!(result, result.clone());
    }

    #[test]
    fn a_signal_comes_before_the_time_is_up() {
        let (mutex, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            let guard = mutex.lock().unwrap();
            scope.spawn(|| {
                *mutex.lock().unwrap() = true;
                changed.notify_all();
            });
            let (guard, result) =
                changed.wait_timeout_while(guard, LONG, |done| !*done).unwrap();
            assert!(*guard && !result.timed_out());
            drop(guard);
            *mutex.lock().unwrap() = false;
            let guard = mutex.lock().unwrap();
            scope.spawn(|| {
                *mutex.lock().unwrap() = true;
                changed.notify_one();
            });
            let mut waited = changed.wait_timeout(guard, LONG).unwrap();
            while !*waited.0 {
                waited = changed.wait_timeout(waited.0, LONG).unwrap();
            }
            assert!(!waited.1.timed_out());
        });
    }

    /// A time that is further away than any clock goes is for ever.
    #[test]
    fn the_longest_time_is_no_time_at_all() {
        let (mutex, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            let guard = mutex.lock().unwrap();
            scope.spawn(|| {
                *mutex.lock().unwrap() = true;
                changed.notify_one();
            });
            let mut waited = changed.wait_timeout(guard, Duration::MAX).unwrap();
            while !*waited.0 {
                waited = changed.wait_timeout(waited.0, Duration::MAX).unwrap();
            }
        });
    }

    #[test]
    fn who_waits_learns_of_the_poison() {
        let (mutex, changed) = (Mutex::new(0), Condvar::new());
        thread::scope(|scope| {
            let guard = mutex.lock().unwrap();
            let panics = scope.spawn(|| {
                let mut guard = mutex.lock().unwrap();
                *guard = 1;
                changed.notify_all();
                panic!("with the lock");
            });
            let error = changed.wait_while(guard, |value| *value == 0).unwrap_err();
            assert_eq!(**error.get_ref(), 1);
            drop(error);
            assert!(panics.join().is_err());
        });
        let guard = mutex.lock().unwrap_err().into_inner();
        let error = changed.wait_timeout(guard, SHORT).unwrap_err();
        assert_eq!(*error.into_inner().0, 1);
    }

    #[test]
    fn a_condition_that_panics_gives_the_lock_back() {
        let (mutex, changed) = (Mutex::new(0), Condvar::new());
        let result = catch_unwind(AssertUnwindSafe(|| {
            drop(changed.wait_while(mutex.lock().unwrap(), |_| panic!("no")));
        }));
        assert!(result.is_err());
        assert!(mutex.is_poisoned());
        assert!(mutex.try_lock().is_err_and(|error| error.to_string().starts_with("poisoned")));
    }

    #[test]
    fn nobody_need_wait_for_a_signal() {
        static CHANGED: Condvar = Condvar::new();
        CHANGED.notify_one();
        CHANGED.notify_all();
        assert_eq!(format!("{CHANGED:?}"), "Condvar { .. }");
        assert_eq!(format!("{:?}", Condvar::default()), "Condvar { .. }");
    }
}
