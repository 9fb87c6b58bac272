//! What threads wait for when a program ends that hangs.

use std::sync::Arc;
use std::time::Duration;
use std::{fs, process};

use super::mpsc::{channel, sync_channel};
use super::{Barrier, Condvar, Mutex, OnceLock, RwLock};
use crate::child_trace::{in_child, last_requests};
use crate::thread;
use crate::trace::Patience;

/// What the threads of the test wait for.
type Locks = (Mutex<u32>, RwLock<u32>, OnceLock<u32>);

/// Ends the process as soon as all other threads have slept for a while.
fn exit_when_all_wait() {
    let mut calm = 0;
    while calm < 5 {
        let tasks = fs::read_dir("/proc/self/task").expect("there are tasks");
        let running = tasks.filter_map(|task| {
            let stat = fs::read_to_string(task.ok()?.path().join("stat")).ok()?;
            stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R')).then_some(())
        });
        // This one runs.
        calm = if running.count() > 1 { 0 } else { calm + 1 };
        std::thread::sleep(Duration::from_millis(10));
    }
    process::exit(0);
}

#[test]
fn who_waits_says_what_for() {
    if in_child() {
        let lock = Arc::new((Mutex::new(0), RwLock::new(0), OnceLock::new()));
        let _held = (lock.0.lock(), lock.1.write());
        let spawn = |body: fn(&Locks)| {
            let lock = lock.clone();
            thread::spawn(move || body(&lock))
        };
        spawn(|lock| drop(lock.0.lock()));
        spawn(|lock| drop(lock.1.read()));
        spawn(|lock| drop(lock.1.write()));
        spawn(|_| thread::park());
        spawn(|_| {
            let (_sender, receiver) = channel::<u32>();
            receiver.recv_timeout(Duration::from_secs(600)).unwrap_err();
        });
        spawn(|_| {
            let (sender, _receiver) = sync_channel(1);
            (0..2).for_each(|message| sender.send(message).unwrap());
        });
        spawn(|_| {
            let (sender, _receiver) = sync_channel(0);
            sender.send(0).unwrap();
        });
        spawn(|_| {
            Barrier::new(2).wait();
        });
        spawn(|_| drop(Condvar::new().wait(Mutex::new(0).lock().unwrap())));
        spawn(|_| {
            let inner = thread::spawn(|| thread::park_timeout(Duration::from_secs(600)));
            inner.join().unwrap();
        });
        let (runs, started) = std::sync::mpsc::channel();
        let initialise = move |lock: Arc<Locks>| {
            lock.2.get_or_init(|| {
                runs.send(()).expect("the test waits for it");
                loop {
                    std::thread::sleep(Duration::from_secs(600));
                }
            });
        };
        thread::spawn({
            let (lock, initialise) = (lock.clone(), initialise.clone());
            move || initialise(lock)
        });
        started.recv().expect("the initialiser runs");
        thread::spawn({
            let lock = lock.clone();
            move || initialise(lock)
        });
        exit_when_all_wait();
    }
    let requests = last_requests("sync::request_tests::who_waits_says_what_for");
    let mut found: Vec<_> =
        requests.iter().map(|request| (request.op.keyword(), request.patience)).collect();
    found.sort_by_key(|(keyword, patience)| (*keyword, *patience as u8));
    let expected = [
        ("acquire", Patience::Forever),
        ("acquire", Patience::Forever),
        ("join", Patience::Forever),
        ("leave", Patience::Forever),
        ("once_wait", Patience::Forever),
        ("park", Patience::Forever),
        ("park", Patience::Timed),
        ("racquire", Patience::Forever),
        // A receive, and a rendezvous, whose sender waits for an acknowledgement.
        ("recv_closed", Patience::Forever),
        ("recv_closed", Patience::Timed),
        ("send", Patience::Forever),
        ("wake", Patience::Forever),
    ];
    assert_eq!(found, expected);
    assert!(requests.iter().all(|request| request.location.is_some()), "{requests:?}");
}
