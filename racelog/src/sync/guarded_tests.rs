//! Words behind guards: whatever way a lock is given back, what was written under it is recorded
//! before that.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

#[cfg(std_since = "1.92")]
use super::RwLockWriteGuard;
use super::{Condvar, Mutex, RwLock};
use crate::child_trace::{events, in_child};
use crate::thread;
use crate::trace::{Op, Value};

/// What a test does with the first word that it uses, and with its locks and condvars.
fn steps(name: &str) -> String {
    let trace = events(&format!("sync::guarded_tests::{name}"));
    let word = |value: &Value| match value {
        Value::Nat(number) => number.to_string(),
        Value::Neg(number) => number.to_string(),
        _ => "?".to_owned(),
    };
    let step = |op: &Op| match op {
        Op::Begin | Op::End | Op::Branch | Op::Assert(_) => None,
        Op::Read { value, .. } | Op::Write { value, .. } | Op::Exclusive { value, .. } => {
            Some(format!("{} {}", op.keyword(), word(value)))
        }
        _ => Some(op.keyword().to_owned()),
    };
    trace.iter().filter_map(|event| step(&event.op)).collect::<Vec<_>>().join(", ")
}

#[test]
fn by_the_end_of_the_guard() {
    if in_child() {
        let lock = Mutex::new(7u64);
        {
            let mut guard = lock.lock().unwrap();
            *guard += 1;
            // Two references, and only one of them writes.
            let twice = *guard * 2;
            *guard = twice;
        }
        assert_eq!(*lock.lock().unwrap(), 16);
        std::mem::forget(lock);
        return;
    }
    let first = "acquire, read 7, write 8, read 8, read 8, write 16, release";
    let second = "acquire, read 16, release";
    assert_eq!(steps("by_the_end_of_the_guard"), format!("{first}, {second}"));
}

#[test]
fn by_waiting() {
    if in_child() {
        let (lock, condvar) = (Mutex::new(0u8), Condvar::new());
        let soon = Duration::from_millis(1);
        let mut guard = lock.lock().unwrap();
        *guard = 3;
        (guard, _) = condvar.wait_timeout(guard, soon).unwrap();
        *guard += 1;
        let waits = condvar.wait_timeout_while(guard, soon, |word| {
            *word += 1;
            true
        });
        drop(waits);
        std::mem::forget(lock);
        return;
    }
    let steps = steps("by_waiting");
    let before = "acquire, read 0, write 3, wait, wake_timeout, read 3, write 4, read 4, write 5, \
        wait, wake_timeout, ";
    assert!(steps.starts_with(before), "{steps}");
    assert!(steps.ends_with(", release"), "{steps}");
    let words: Vec<&str> = steps.split(", ").collect();
    for pair in words.windows(2) {
        let gives_back = matches!(pair[1], "wait" | "release");
        assert!(!gives_back || pair[0].starts_with("write"), "{steps}");
        assert!(pair[0] != "wait" || pair[1] == "wake_timeout", "{steps}");
    }
}

#[test]
#[cfg(std_since = "1.92")]
#[clippy::msrv = "1.92"]
fn by_becoming_a_reader() {
    if in_child() {
        let lock = RwLock::new(false);
        let mut guard = lock.write().unwrap();
        *guard = true;
        let guard = RwLockWriteGuard::downgrade(guard);
        assert!(*guard);
        drop(guard);
        std::mem::forget(lock);
        return;
    }
    let expected =
        "acquire, acquire, read 0, write 1, release, racquire, release, read 1, rrelease";
    assert_eq!(steps("by_becoming_a_reader"), expected);
}

#[test]
fn by_a_panic() {
    if in_child() {
        let lock = Mutex::new('a');
        let result = catch_unwind(AssertUnwindSafe(|| {
            let mut guard = lock.lock().unwrap();
            *guard = 'b';
            panic!("as it should");
        }));
        assert!(result.is_err());
        assert_eq!(*lock.lock().unwrap_err().into_inner(), 'b');
        std::mem::forget(lock);
        return;
    }
    let steps = steps("by_a_panic");
    let (held, after) = steps.split_once(", release").expect("it is released");
    assert!(held.starts_with("acquire, "), "{steps}");
    let places = ["read 97", "write 98"].map(|step| held.find(step));
    assert!(places[0] < places[1] && places[0].is_some(), "{steps}");
    assert!(after.contains("acquire, ") && after.contains("read 98"), "{steps}");
}

#[test]
fn by_nothing() {
    if in_child() {
        let mut lock = Mutex::new(-1i32);
        drop(lock.lock());
        let mut guard = lock.lock().unwrap();
        *guard = -2;
        // What is in a lock that moves is somewhere else.
        std::mem::forget(guard);
        lock = Box::new([lock]).into_iter().next().unwrap();
        assert_eq!(*lock.get_mut().unwrap(), -2);
        *lock.get_mut().unwrap() = -3;
        assert_eq!(lock.into_inner().unwrap(), -3);
        return;
    }
    let expected = "acquire, release, acquire, read -1, exclusive -2, exclusive -2, exclusive ?";
    assert_eq!(steps("by_nothing"), expected);
}

#[test]
fn a_guard_that_is_shown_is_read_in_the_order_that_was() {
    if in_child() {
        let lock = Mutex::new(1u16);
        let mut guard = lock.lock().unwrap();
        *guard = 2;
        let shown = &guard;
        thread::scope(|scope| scope.spawn(|| assert_eq!(**shown, 2)).join().unwrap());
        *guard += 1;
        drop(guard);
        std::mem::forget(lock);
        return;
    }
    let steps = steps("a_guard_that_is_shown_is_read_in_the_order_that_was");
    let words: Vec<&str> = steps.split(", ").filter(|step| step.contains(' ')).collect();
    assert_eq!(words, ["read 1", "exclusive 2", "write 2", "read 2", "write 3"], "{steps}");
}

#[test]
fn types_that_are_no_plain_words_have_no_values() {
    if in_child() {
        let (first, second) = (Mutex::new((1u8, 2u64)), Mutex::new(&5u8));
        let mut guard = first.lock().unwrap();
        let (number, _) = &mut *guard;
        *number += 1;
        drop(guard);
        assert_eq!(**second.lock().unwrap(), 5);
        std::mem::forget((first, second));
        return;
    }
    let expected = "acquire, read ?, write ?, release, acquire, read ?, release";
    assert_eq!(steps("types_that_are_no_plain_words_have_no_values"), expected);
}
