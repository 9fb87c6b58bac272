//! Runs generated bodies, plain and instrumented, from the same states, and compares what they do.
//! Run it with `RACELOG=1`: only then there is something to be owed.

#![allow(warnings, reason = "the bodies are generated")]

use std::cell::{Cell, RefCell};
use std::fmt::Write;

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::sync::atomic::{AtomicU32, Ordering};

static CELL0: Shared<u32> = Shared::new(0);
static CELL1: Shared<u32> = Shared::new(0);
static CELL2: Shared<u32> = Shared::new(0);
static ATOMIC: AtomicU32 = AtomicU32::new(0);
static LOCK: Mutex<()> = Mutex::new(());
static TABLE: [u32; 3] = [7, 8, 9];
static mut MEMORY: u32 = 0;

thread_local! {
    /// What was decided and logged.
    static DONE: RefCell<String> = const { RefCell::new(String::new()) };
    static INSTRUMENTED: Cell<bool> = const { Cell::new(false) };
    static CHECKED: Cell<u32> = const { Cell::new(0) };
}

fn note(text: &str, number: u32) {
    DONE.with_borrow_mut(|done| write!(done, "{text}{number} ").unwrap());
}

/// An alternative of a decision starts here. What is said of the decision is compared with what
/// other runs do; of what was read besides, a branch may still be owed.
fn Decided(number: u32) {
    if INSTRUMENTED.get() {
        CHECKED.set(CHECKED.get() + 1);
    }
    note("", number);
}

/// Code that is not instrumented and goes by its argument.
fn log(value: u32) {
    assert!(!racelog::__private::owes_branch(), "a call has no branch");
    note("=", value);
}

fn twice(value: u32) -> u32 {
    assert!(!racelog::__private::owes_branch(), "a call has no branch");
    value.wrapping_mul(2)
}

fn small(value: u32) -> Result<u32, u32> {
    if value < 6 { Ok(value) } else { Err(value) }
}

fn pointer() -> *mut u32 {
    &raw mut MEMORY
}

mod plain {
    use super::*;
    include!(concat!(env!("RACELOG_BODIES"), "/plain.rs"));
}

mod instrumented {
    use super::*;
    include!(concat!(env!("RACELOG_BODIES"), "/instrumented.rs"));
}

type Body = fn(u32) -> Result<u32, u32>;

/// Writes the memory so that it is recorded.
#[racelog::instrument]
fn set_memory(value: u32) {
    // SAFETY: there is one thread.
    unsafe { MEMORY = value };
}

/// Marks a place in the trace.
fn mark(text: &str) {
    if INSTRUMENTED.get() {
        racelog::__private::checked(text);
    }
}

fn run(number: usize, body: Body, state: u32, is_instrumented: bool) -> String {
    INSTRUMENTED.set(is_instrumented);
    // With its argument a body is another one.
    mark(&format!("body {number} with {}", state % 4));
    for (number, cell) in [&CELL0, &CELL1, &CELL2].into_iter().enumerate() {
        cell.set(state >> number & 3);
    }
    ATOMIC.store(state % 5, Ordering::SeqCst);
    set_memory(state % 3);
    DONE.set(String::new());
    mark("body");
    let result = body(state % 4);
    mark("done");
    // SAFETY: there is one thread.
    let memory = unsafe { MEMORY };
    let cells = [CELL0.get(), CELL1.get(), CELL2.get(), ATOMIC.load(Ordering::SeqCst), memory];
    format!("{result:?} {cells:?} {}", DONE.take())
}

/// Without a decision a branch stays owed: so `Decided` can find one.
#[racelog::instrument]
fn owing() {
    let value = CELL0.get();
    Owed(value);
}

fn Owed(_: u32) {
    assert!(racelog::__private::owes_branch(), "nothing is ever owed: are we recorded?");
}

fn main() {
    owing();
    for (number, (plain, instrumented)) in plain::ALL.iter().zip(instrumented::ALL).enumerate() {
        for state in 0..40 {
            let expected = run(number, *plain, state, false);
            let happened = run(number, *instrumented, state, true);
            assert_eq!(happened, expected, "body {number}, state {state}");
        }
    }
    println!("{} bodies, {} decisions", plain::ALL.len(), CHECKED.get());
}
