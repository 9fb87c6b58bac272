//! Functions with unsafe code, each in two forms that differ in how threads agree on who goes when:
//! `twins NAME` is free of races, `twins NAME racy` is not. `twins list` prints the names, `twins
//! variants` those of more twins, and `twins harmless` those of twins that never have a race.
//!
//! They are written as such code is written, not as the recorder would like it to be. Each runs in
//! one given order, the first thread before the second.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "whether they are sound is what the twins are about"
)]

#[path = "../instrumented/turns.rs"]
mod turns;

mod allocations;
mod arrays;
mod cells;
mod lists;
mod macros;
mod variants;
mod words;

use std::process::ExitCode;

use racelog::sync::Mutex;
use racelog::thread;

/// A function: its name, and a run of it, racy or not.
type Twin = (&'static str, fn(bool));

const TWINS: &[&[Twin]] =
    &[lists::TWINS, arrays::TWINS, words::TWINS, cells::TWINS, allocations::TWINS, macros::TWINS];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let wanted = words.first().map_or("", String::as_str);
    let listed = match wanted {
        "list" => TWINS,
        "variants" => &[variants::VARIANTS],
        "harmless" => &[variants::HARMLESS],
        _ => &[],
    };
    if !listed.is_empty() {
        listed.iter().copied().flatten().for_each(|(name, _)| println!("{name}"));
        return ExitCode::SUCCESS;
    }
    let more = [variants::VARIANTS, variants::HARMLESS];
    let mut all = TWINS.iter().chain(&more).copied().flatten();
    let Some((_, run)) = all.find(|(name, _)| *name == wanted) else {
        eprintln!("there is no twin `{wanted}`");
        return ExitCode::FAILURE;
    };
    run(words.get(1).is_some_and(|word| word == "racy"));
    ExitCode::SUCCESS
}

static LOCK: Mutex<()> = Mutex::new(());

/// A pointer that goes to other threads.
struct Sent<T>(*mut T);

// SAFETY: the twins are about whether this is right.
unsafe impl<T> Send for Sent<T> {}

/// Runs two functions on one thing, on a thread each, one after the other: under a lock, or, if they
/// are to race, without.
fn pair<T: 'static>(thing: T, racy: bool, first: unsafe fn(*mut T), second: unsafe fn(*mut T)) {
    let locked = move |f: unsafe fn(*mut T), thing: *mut T| {
        let _guard = (!racy).then(|| LOCK.lock().unwrap());
        // SAFETY: the twins are about whether this is right.
        unsafe { f(thing) };
    };
    in_turn(thing, move |thing| locked(first, thing), move |thing| locked(second, thing));
}

/// Runs two functions on one thing, on a thread each, one after the other. They see to it
/// themselves that they do not race, or do not.
fn in_turn<T: 'static>(
    thing: T,
    first: impl FnOnce(*mut T) + Send + 'static,
    second: impl FnOnce(*mut T) + Send + 'static,
) {
    let place = Box::into_raw(Box::new(thing));
    let (sent, other) = (Sent(place), Sent(place));
    let first = thread::spawn(move || {
        let sent = sent;
        first(sent.0);
        turns::done();
    });
    let second = thread::spawn(move || {
        let other = other;
        turns::wait_for(1);
        second(other.0);
    });
    first.join().unwrap();
    second.join().unwrap();
}
