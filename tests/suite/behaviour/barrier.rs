//! `Barrier`.

use crate::both::for_both;

for_both! {
    use root::sync::atomic::{AtomicUsize, Ordering};
    use root::sync::{Arc, Barrier, Mutex};
    use root::thread;

    #[test]
    fn nobody_goes_on_before_all_are_there() {
        const THREADS: usize = 5;
        let barrier = Arc::new(Barrier::new(THREADS));
        let log = Arc::new(Mutex::new(Vec::new()));
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let (barrier, log) = (Arc::clone(&barrier), Arc::clone(&log));
                thread::spawn(move || {
                    log.lock().unwrap().push("before");
                    let result = barrier.wait();
                    log.lock().unwrap().push("after");
                    result.is_leader()
                })
            })
            .collect();
        let leaders: usize =
            threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum();
        assert_eq!(leaders, 1);
        let log = log.lock().unwrap();
        assert_eq!(log[..THREADS], ["before"; THREADS]);
        assert_eq!(log[THREADS..], ["after"; THREADS]);
    }

    #[test]
    fn it_can_be_used_again() {
        static BARRIER: Barrier = Barrier::new(3);
        let leaders = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 0..10 {
                        if BARRIER.wait().is_leader() {
                            leaders.fetch_add(1, Ordering::Relaxed);
                        }
                        BARRIER.wait();
                        assert_eq!(leaders.load(Ordering::Relaxed), round + 1);
                        BARRIER.wait();
                    }
                });
            }
        });
        assert_eq!(leaders.into_inner(), 10);
    }

    #[test]
    fn alone_one_leads() {
        for threads in [0, 1] {
            let barrier = Barrier::new(threads);
            let result = barrier.wait();
            assert!(result.is_leader());
            assert_eq!(format!("{barrier:?}"), "Barrier { .. }");
            assert_eq!(format!("{result:?}"), "BarrierWaitResult { is_leader: true }");
        }
    }
}
