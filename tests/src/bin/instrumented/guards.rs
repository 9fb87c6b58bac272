//! Words that locks guard. All programs but the last are those of Figure 2 of the PLDI 2014 paper,
//! with a guarded word in the place of the volatile.
#![allow(clippy::partialeq_to_none, reason = "comparisons of what is guarded, as they may stand")]

use std::num::NonZeroU32;
use std::time::Duration;

use racelog::cell::Shared;
use racelog::sync::{Condvar, Mutex, RwLock};
use racelog::thread;

use crate::{Program, turns, twice};

macro_rules! programs {
    ($($name:literal $function:ident)*) => {
        pub(crate) const PROGRAMS: &[Program] = &[$(
            ($name, || run(instrumented::$function), || run(plain::$function)),
        )*];
    };
}

programs! {
    "guard-mutex" mutex
    "guard-mutex-decided" mutex_decided
    "guard-rwlock" rwlock
    "guard-rwlock-decided" rwlock_decided
    "guard-niche" niche
    "guard-niche-decided" niche_decided
    "guard-written" written
    "guard-updated" updated
    "guard-compared" compared
    "guard-compared-decided" compared_decided
    "guard-lent" lent
    "guard-shown" shown
    "guard-followed" followed
    "guard-same" same
    "guard-shared" shared
    "guard-waits" waits
    "guard-values" values
}

static X: Shared<u32> = Shared::new(0);
static NUMBER: Mutex<u64> = Mutex::new(0);
static FLAG: RwLock<bool> = RwLock::new(false);
static ID: Mutex<Option<NonZeroU32>> = Mutex::new(None);
static ALWAYS: Mutex<u32> = Mutex::new(1);

fn run(second: fn()) {
    let second = thread::spawn(move || {
        turns::wait_for(1);
        second();
    });
    first();
    turns::done();
    second.join().unwrap();
}

#[racelog::instrument]
fn first() {
    X.set(1); // line 1
    *NUMBER.lock().unwrap() = 1;
    *FLAG.write().unwrap() = true;
    *ID.lock().unwrap() = NonZeroU32::MIN.checked_add(6);
    *ALWAYS.lock().unwrap() = 1;
}

/// Goes by the word, and leaves no event.
fn decide(word: &mut u64) {
    consult(word);
}

fn consult(word: &u64) {
    if *word == 0 {
        std::process::exit(0);
    }
}

fn increment(word: &mut u64) {
    *word += 1;
}

twice! {
    pub(crate) fn mutex() {
        let number = *NUMBER.lock().unwrap();
        X.get(); // line 4
        assert_eq!(number, 1);
    }

    pub(crate) fn mutex_decided() {
        if *NUMBER.lock().unwrap() == 1 {
            X.get(); // line 4
        }
    }

    pub(crate) fn rwlock() {
        let guard = FLAG.read().unwrap();
        let flag = *guard;
        X.get(); // line 4
        assert!(flag);
    }

    pub(crate) fn rwlock_decided() {
        let guard = FLAG.read().unwrap();
        if *guard {
            X.get(); // line 4
        }
    }

    pub(crate) fn niche() {
        let id = *ID.lock().unwrap();
        X.get(); // line 4
        assert!(id.is_some());
    }

    pub(crate) fn niche_decided() {
        let Some(_) = *ID.lock().unwrap() else { return };
        X.get(); // line 4
    }

    /// What was there does not matter.
    pub(crate) fn written() {
        *NUMBER.lock().unwrap() = 5;
        X.get(); // line 4
    }

    /// The operator could have panicked, but does not by what the other thread has written.
    pub(crate) fn updated() {
        *NUMBER.lock().unwrap() += 5;
        X.get(); // line 4
    }

    /// Both are read before it is known whether they are equal.
    pub(crate) fn compared() {
        let guard = NUMBER.lock().unwrap();
        let equal = *guard == u64::from(X.get()); // line 4
        assert!(equal);
    }

    pub(crate) fn compared_decided() {
        let guard = NUMBER.lock().unwrap();
        if *guard == 1 && X.get() == 1 { // line 4
            std::hint::black_box(1);
        }
    }

    pub(crate) fn lent() {
        let mut guard = NUMBER.lock().unwrap();
        decide(&mut guard);
        X.get(); // line 4
    }

    pub(crate) fn shown() {
        let guard = NUMBER.lock().unwrap();
        let word = &*guard;
        consult(word);
        X.get(); // line 4
    }

    pub(crate) fn followed() {
        let guard = NUMBER.lock().unwrap();
        let word = &*guard;
        X.get(); // line 4
        assert_eq!(*word, 1);
    }

    /// The word was the same before.
    pub(crate) fn same() {
        if *ALWAYS.lock().unwrap() == 1 {
            X.get(); // line 4
        }
    }

    /// Another thread reads the word by the guard of the one that has written it.
    pub(crate) fn shared() {
        let mut guard = NUMBER.lock().unwrap();
        increment(&mut guard);
        let shown = &guard;
        thread::scope(|scope| {
            scope.spawn(|| assert!(**shown > 0));
            assert!(**shown > 0);
        });
        increment(&mut guard);
    }

    /// The word is changed by a reference, and then the lock is given back to wait.
    pub(crate) fn waits() {
        static NOTHING: Condvar = Condvar::new();
        let mut guard = NUMBER.lock().unwrap();
        increment(&mut guard);
        let wait = NOTHING.wait_timeout(guard, Duration::from_millis(1));
        X.get(); // line 4
        drop(wait);
    }

    /// One of each kind of access.
    pub(crate) fn values() {
        let mut guard = NUMBER.lock().unwrap();
        let before = *guard;
        *guard = before + 2;
        *guard *= 5;
        decide(&mut guard);
        let word = &mut *guard;
        *word += 1;
        drop(guard);
        *FLAG.write().unwrap() ^= true;
        let _ = *FLAG.read().unwrap() || *ID.lock().unwrap() == None;
    }
}
