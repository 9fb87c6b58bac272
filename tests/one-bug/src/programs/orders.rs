//! What must come first, and need not.

use std::collections::VecDeque;

use super::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use super::sync::{Condvar, Mutex, mpsc};
use super::{both, nap, thread};

pub(crate) fn settings_before_they_are_made(right: bool) {
    let (settings, made) = (Mutex::new(None), Condvar::new());
    both(
        || {
            nap();
            *settings.lock().unwrap() = Some(7);
            made.notify_all();
        },
        || {
            let mut found = settings.lock().unwrap();
            while right && found.is_none() {
                found = made.wait(found).unwrap();
            }
            assert_eq!(found.expect("they are made by now"), 7);
        },
    );
}

pub(crate) fn receiver_that_does_not_wait(right: bool) {
    let (sender, receiver) = mpsc::channel();
    both(
        move || {
            nap();
            sender.send(7).expect("there is who receives it");
        },
        move || {
            if right {
                assert_eq!(receiver.recv(), Ok(7));
            } else {
                let _ = receiver.try_recv();
            }
        },
    );
}

pub(crate) fn stop_before_all_is_done(right: bool) {
    let (jobs, is_over) = (Mutex::new(VecDeque::new()), AtomicBool::new(false));
    let done = AtomicU32::new(0);
    both(
        || {
            for job in 0..2 {
                jobs.lock().unwrap().push_back(job);
                nap();
            }
            is_over.store(true, Ordering::SeqCst);
        },
        || {
            loop {
                let was_over = is_over.load(Ordering::SeqCst);
                let job = jobs.lock().unwrap().pop_front();
                if job.is_some() {
                    done.fetch_add(1, Ordering::SeqCst);
                } else if if right { was_over } else { is_over.load(Ordering::SeqCst) } {
                    break;
                } else {
                    thread::yield_now();
                }
            }
        },
    );
    assert_eq!(done.load(Ordering::SeqCst), 2, "a job is left");
}
