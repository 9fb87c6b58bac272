//! The programs of Huang, Meredith and Roşu, PLDI 2014, in the orders that the paper gives.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::sync::atomic::{AtomicU32, Ordering};
use racelog::thread;

use crate::{Program, turns, twice};

pub(crate) const PROGRAMS: &[Program] = &[
    ("figure1", instrumented::figure1, plain::figure1),
    ("figure1-switched", instrumented::figure1_switched, plain::figure1_switched),
    ("figure2-case1", instrumented::figure2_case1, plain::figure2_case1),
    ("figure2-case2", instrumented::figure2_case2, plain::figure2_case2),
    ("array", instrumented::array, plain::array),
    ("array-element", instrumented::array_element, plain::array_element),
];

static LOCK: Mutex<()> = Mutex::new(());
static X: Shared<u32> = Shared::new(0);
static Y: Shared<u32> = Shared::new(0);
static Z: Shared<u32> = Shared::new(0);
static VOLATILE: AtomicU32 = AtomicU32::new(0);
static ARRAY: [Shared<u32>; 2] = [const { Shared::new(0) }; 2];

twice! {
    /// Figure 1: lines 3 and 10 race, although a lock orders them in this run.
    pub(crate) fn figure1() {
        let second = thread::spawn(second); // line 1
        {
            let _guard = LOCK.lock().unwrap(); // line 2
            X.set(1); // line 3
            Y.set(1); // line 4
        }
        turns::done();
        second.join().unwrap(); // line 14
        let authenticated = Z.get(); // line 15
        if authenticated == 0 {
            eprintln!("an error");
        }
    }

    /// Figure 1 with lines 1 and 2 the other way round: then they do not.
    pub(crate) fn figure1_switched() {
        let second;
        {
            let _guard = LOCK.lock().unwrap(); // line 1
            second = thread::spawn(second_thread); // line 2
            X.set(1); // line 3
            Y.set(1); // line 4
        }
        turns::done();
        second.join().unwrap();
    }

    fn second() {
        turns::wait_for(1);
        let first = {
            let _guard = LOCK.lock().unwrap(); // line 7
            Y.get() // line 8
        };
        let second = X.get(); // line 10
        if first == second {
            Z.set(1); // line 12
        }
    }

    fn second_thread() {
        second();
    }

    /// Figure 2, case 1: lines 1 and 4 race.
    pub(crate) fn figure2_case1() {
        let second = thread::spawn(|| {
            turns::wait_for(1);
            let _first = VOLATILE.load(Ordering::SeqCst); // line 3
            let _second = X.get(); // line 4
        });
        X.set(1); // line 1
        VOLATILE.store(1, Ordering::SeqCst); // line 2
        turns::done();
        second.join().unwrap();
    }

    /// Figure 2, case 2: they do not, for line 4 is reached only when line 3 has read 1.
    pub(crate) fn figure2_case2() {
        let second = thread::spawn(|| {
            turns::wait_for(1);
            while VOLATILE.load(Ordering::SeqCst) == 0 {} // line 3
            let _second = X.get(); // line 4
        });
        X.set(1); // line 1
        VOLATILE.store(1, Ordering::SeqCst); // line 2
        turns::done();
        second.join().unwrap();
    }

    /// Section 4: which element line 2 writes depends on what it reads, so it does not race with
    /// line 7.
    pub(crate) fn array() {
        let second = thread::spawn(second_of_array);
        {
            let _guard = LOCK.lock().unwrap(); // line 1
            ARRAY[X.get() as usize].set(2); // line 2
        }
        turns::done();
        second.join().unwrap();
    }

    /// The same, but for an element that is always the same one: then it does.
    pub(crate) fn array_element() {
        let second = thread::spawn(second_of_array);
        {
            let _guard = LOCK.lock().unwrap(); // line 1
            let _index = X.get();
            ARRAY[0].set(2); // line 2
        }
        turns::done();
        second.join().unwrap();
    }

    fn second_of_array() {
        turns::wait_for(1);
        {
            let _guard = LOCK.lock().unwrap(); // line 4
            X.set(1); // line 5
        }
        ARRAY[0].set(1); // line 7
    }
}
