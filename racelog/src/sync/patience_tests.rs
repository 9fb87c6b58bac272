//! How long threads would have waited, as the trace says it.

use std::time::Duration;

use super::mpsc::{channel, sync_channel};
use super::{Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use crate::child_trace::{events, in_child, located_events};
use crate::thread;
use crate::trace::{Op, Patience};

const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_millis(1);

/// What a test records that may wait, each with how long.
fn patience(name: &str) -> Vec<(&'static str, Patience)> {
    let trace = events(&format!("sync::patience_tests::{name}"));
    let waits = trace.iter().filter(|event| event.op.has_patience());
    waits.map(|event| (event.op.keyword(), event.patience)).collect()
}

#[test]
fn of_locks() {
    if in_child() {
        let (mutex, lock) = (Mutex::new(0), RwLock::new(0));
        drop(mutex.lock());
        drop(mutex.try_lock());
        drop(lock.read());
        drop(lock.try_read());
        drop(lock.write());
        drop(lock.try_write());
        return;
    }
    let expected = [
        ("acquire", Patience::Forever),
        ("acquire", Patience::Try),
        ("racquire", Patience::Forever),
        ("racquire", Patience::Try),
        // A writer takes two locks.
        ("acquire", Patience::Forever),
        ("acquire", Patience::Forever),
        ("acquire", Patience::Try),
        ("acquire", Patience::Try),
    ];
    assert_eq!(patience("of_locks"), expected);
}

#[test]
fn of_waits_and_parking() {
    if in_child() {
        let (mutex, condvar) = (Mutex::new(0), Condvar::new());
        drop(condvar.wait_timeout(mutex.lock().unwrap(), SHORT));
        thread::scope(|scope| {
            let guard = mutex.lock().unwrap();
            scope.spawn(|| {
                drop(mutex.lock());
                condvar.notify_one();
            });
            drop(condvar.wait(guard));
        });
        for park in [thread::park, || thread::park_timeout(LONG)] {
            thread::current().unpark();
            park();
        }
        return;
    }
    let found = patience("of_waits_and_parking");
    let found: Vec<_> = found.into_iter().filter(|(op, _)| *op != "acquire").collect();
    let expected = [
        ("wait", Patience::Timed),
        ("wait", Patience::Forever),
        ("park", Patience::Forever),
        ("park", Patience::Timed),
    ];
    assert_eq!(found, expected);
}

#[test]
fn of_channels() {
    if in_child() {
        let (sender, receiver) = channel();
        (0..3).for_each(|message| sender.send(message).unwrap());
        receiver.recv().unwrap();
        receiver.try_recv().unwrap();
        receiver.recv_timeout(LONG).unwrap();
        drop(sender);
        receiver.recv().unwrap_err();
        receiver.try_recv().unwrap_err();
        receiver.recv_timeout(LONG).unwrap_err();
        let (sender, receiver) = sync_channel(2);
        sender.send(0).unwrap();
        sender.try_send(0).unwrap();
        drop(receiver);
        return;
    }
    let kinds = [Patience::Forever, Patience::Try, Patience::Timed];
    let mut expected = vec![("send", Patience::Forever); 3];
    expected.extend(kinds.map(|patience| ("recv", patience)));
    expected.extend(kinds.map(|patience| ("recv_closed", patience)));
    let found = patience("of_channels");
    assert_eq!(found[..9], expected);
    let sends: Vec<_> = found[9..].iter().filter(|(op, _)| *op == "send").collect();
    let bounded = &sends[sends.len() - 2..];
    assert_eq!(bounded, [&("send", Patience::Forever), &("send", Patience::Try)]);
}

#[test]
fn of_onces() {
    if in_child() {
        let (once, cell, lazy) = (Once::new(), OnceLock::new(), LazyLock::new(|| 3));
        for _ in 0..2 {
            once.call_once(|| {});
            cell.get_or_init(|| 2);
            assert_eq!(*lazy, 3);
        }
        thread::scope(|scope| {
            let twice = || (0..2).for_each(|_| assert_eq!(cell.get_or_init(|| 5), &2));
            scope.spawn(twice).join().unwrap();
        });
        return;
    }
    let trace = events("sync::patience_tests::of_onces");
    let words: Vec<_> = trace.iter().map(|event| event.op.keyword()).collect();
    let run = ["once_begin", "load", "store", "once_end"];
    assert_eq!(words[..12], [run, run, run].concat());
    // Who has run the initialiser, or has waited for it, does not wait again.
    assert_eq!(words[12..15], ["load", "load", "load"]);
    let child = trace[15..].iter().filter(|event| event.thread.get() == 1);
    let child: Vec<_> = child.map(|event| event.op.keyword()).collect();
    let expected = ["begin", "load", "once_wait", "load", "load", "store", "arrive", "end"];
    assert_eq!(child, expected, "{words:?}");
}

#[test]
fn of_initialisers_that_panic() {
    if in_child() {
        let once = Once::new();
        let panics = || once.call_once(|| std::panic::resume_unwind(Box::new(())));
        std::panic::catch_unwind(panics).unwrap_err();
        once.call_once_force(|_| {});
        return;
    }
    let trace = events("sync::patience_tests::of_initialisers_that_panic");
    let words: Vec<_> = trace.iter().map(|event| event.op.keyword()).collect();
    let run = ["once_begin", "load", "store", "once_end"];
    assert_eq!(words[..8], [run, run].concat());
}

#[cfg(target_os = "linux")]
#[test]
fn of_readers_while_a_writer_waits() {
    if in_child() {
        let (lock, mutex) = (RwLock::new(0), Mutex::new(0));
        drop((lock.write(), mutex.lock()));
        drop(lock.read());
        return;
    }
    let trace = located_events("sync::patience_tests::of_readers_while_a_writer_waits");
    let fair = trace.iter().filter_map(|(event, _, dictionary)| match event.op {
        Op::Acquire(lock) | Op::ReadAcquire(lock) => Some(dictionary.is_fair(lock)),
        _ => None,
    });
    // The writers' own lock comes first, then the lock that they share with readers.
    assert_eq!(fair.collect::<Vec<_>>(), [false, true, false, true]);
}
