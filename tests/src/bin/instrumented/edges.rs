//! Code that runs within instrumented functions and is not instrumented itself.
//!
//! All programs are case 2 of Figure 2 of the PLDI 2014 paper, but the one who decides by what was read
//! is somebody else, who leaves no event: line 4 is reached only when line 3 has read 1, so it does
//! not race with line 1.

use std::panic::{AssertUnwindSafe, catch_unwind};

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::sync::atomic::{AtomicU32, Ordering};
use racelog::thread;

use crate::{Program, turns};

macro_rules! programs {
    ($($name:literal $function:ident)*) => {
        pub(crate) const PROGRAMS: &[Program] = &[$(
            ($name, || run(instrumented::$function), || run(instrumented::$function)),
        )*];
    };
}

programs! {
    "edge-none" nobody
    "edge-call" call
    "edge-method" method
    "edge-trait-object" trait_object
    "edge-closure" closure
    "edge-macro" a_macro
    "edge-destructor" destructor
    "edge-overwritten" overwritten
    "edge-operator" operator
    "edge-panic" panic
    "edge-generic" generic
    "edge-reference" reference
    "edge-uninstrumented" uninstrumented
}

static LOCK: Mutex<()> = Mutex::new(());
static X: Shared<u32> = Shared::new(0);
static VOLATILE: AtomicU32 = AtomicU32::new(0);
static REFERENCE: Shared<&Shared<u32>> = Shared::new(&OTHER);
static OTHER: Shared<u32> = Shared::new(0);

fn run(second: fn()) {
    let second = thread::spawn(move || {
        turns::wait_for(1);
        second();
    });
    X.set(1); // line 1
    VOLATILE.store(1, Ordering::SeqCst); // line 2
    {
        let _guard = LOCK.lock().unwrap();
        REFERENCE.set(&X);
    }
    turns::done();
    second.join().unwrap();
}

/// Goes by what was read.
fn decide(read: u32) {
    if read == 0 {
        std::process::exit(0);
    }
}

struct Decider(u32);

impl Decider {
    fn decide(&self) {
        decide(self.0);
    }
}

trait Decide {
    fn go(&self, read: u32);
}

impl Decide for Decider {
    fn go(&self, read: u32) {
        decide(read);
    }
}

/// Decides when it is dropped.
struct Late(u32);

impl Drop for Late {
    fn drop(&mut self) {
        decide(self.0);
    }
}

impl std::ops::Neg for Decider {
    type Output = ();

    fn neg(self) {
        decide(self.0);
    }
}

macro_rules! decide {
    ($read:expr) => {
        if $read == 0 {
            return;
        }
    };
}

/// Not instrumented: it reads by itself, and decides by that.
fn reads_and_decides() {
    decide(VOLATILE.load(Ordering::SeqCst));
}

#[racelog::instrument]
mod instrumented {
    use super::*;

    /// Nobody decides: then there is a race.
    pub(super) fn nobody() {
        let _read = VOLATILE.load(Ordering::SeqCst); // line 3
        X.get(); // line 4
    }

    pub(super) fn call() {
        let read = VOLATILE.load(Ordering::SeqCst); // line 3
        decide(read);
        X.get(); // line 4
    }

    pub(super) fn method() {
        let decider = Decider(VOLATILE.load(Ordering::SeqCst)); // line 3
        decider.decide();
        X.get(); // line 4
    }

    pub(super) fn trait_object() {
        let decider: &dyn Decide = &Decider(1);
        decider.go(VOLATILE.load(Ordering::SeqCst)); // line 3
        X.get(); // line 4
    }

    pub(super) fn closure() {
        let read = VOLATILE.load(Ordering::SeqCst); // line 3
        let found = Some(()).filter(|()| read == 1);
        found.into_iter().for_each(|()| {
            X.get(); // line 4
        });
    }

    pub(super) fn a_macro() {
        let read = VOLATILE.load(Ordering::SeqCst); // line 3
        decide!(read);
        X.get(); // line 4
    }

    pub(super) fn destructor() {
        {
            let _late = Late(VOLATILE.load(Ordering::SeqCst)); // line 3
        }
        X.get(); // line 4
    }

    pub(super) fn overwritten() {
        let mut _late = Late(VOLATILE.load(Ordering::SeqCst)); // line 3
        _late = Late(1);
        X.get(); // line 4
    }

    pub(super) fn operator() {
        let decider = Decider(VOLATILE.load(Ordering::SeqCst)); // line 3
        let () = -decider;
        X.get(); // line 4
    }

    pub(super) fn panic() {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let read = VOLATILE.load(Ordering::SeqCst); // line 3
            let _one = [1][1 - read as usize];
        }));
        drop(caught);
        X.get(); // line 4
    }

    pub(super) fn generic() {
        generically(&VOLATILE, &X);
    }

    fn generically<T: Load + ?Sized>(volatile: &T, x: &Shared<u32>) {
        let read = volatile.load_it(); // line 3
        let _none = [()].get(read as usize);
        decide(read);
        x.get(); // line 4
    }

    /// Which cell is read depends on what was read.
    pub(super) fn reference() {
        let cell = {
            let _guard = LOCK.lock().unwrap();
            REFERENCE.get() // line 3
        };
        cell.get(); // line 4
    }

    pub(super) fn uninstrumented() {
        reads_and_decides(); // line 3
        X.get(); // line 4
    }
}

trait Load {
    fn load_it(&self) -> u32;
}

impl Load for AtomicU32 {
    fn load_it(&self) -> u32 {
        self.load(Ordering::SeqCst)
    }
}
