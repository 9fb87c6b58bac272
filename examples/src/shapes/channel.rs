//! A channel for one letter: the sender writes it, sets a flag, and wakes the receiver up.
//!
//! Bug: the receiver takes it for granted that it is the sender who has woken it. Another thread
//! may have, and then the letter is read while it is written. In `channel_fixed` the receiver looks
//! at the flag again.
//!
//! Work: letters, one after the other, each with a channel of its own. Besides the sender there are
//! `threads` others who wake the receiver.

use racelog::cell::UnsafeCell;
use racelog::sync::atomic::{AtomicBool, Ordering};
use racelog::thread::{self, Thread};

use crate::{Harm, Origin, Program, Race, Size, Source};

const SOURCE: Source = Source { file: file!(), text: include_str!("channel.rs") };

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "channel",
    about: "the receiver of a letter does not ask who has woken it",
    origin: Origin::Shapes,
    source: SOURCE,
    run: |size| (0..size.work).for_each(|_| pass(size, receive_at_once)),
    small: Size::new(1, 1),
    large: Size::new(2, 2_000),
    races: &[Race::new("write", "read-at-once", Harm::StaleRead, "the letter is not written yet")],
    goals: &[],
    schedule: "pct:3:60:6",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "channel_fixed",
    about: "as `channel`, but the receiver sleeps until the letter is there",
    run: |size| (0..size.work).for_each(|_| pass(size, receive)),
    races: &[],
    ..PROGRAM
};

const LETTER: u64 = 7;

#[derive(Default)]
struct Channel {
    is_written: AtomicBool,
    letter: UnsafeCell<u64>,
}

// SAFETY: the letter is the sender's until the flag is set, and then the receiver's, if the
// receiver waits for that.
unsafe impl Sync for Channel {}

#[racelog::instrument]
fn send(channel: &Channel, receiver: &Thread) {
    // SAFETY: the flag is not set, so the receiver does not read it.
    unsafe { *channel.letter.get() = LETTER }; // [write]
    channel.is_written.store(true, Ordering::Release);
    receiver.unpark();
}

#[racelog::instrument]
fn receive_at_once(channel: &Channel) -> u64 {
    if !channel.is_written.load(Ordering::Acquire) {
        thread::park();
    }
    // SAFETY: none, after a wake-up by somebody else.
    unsafe { *channel.letter.get() } // [read-at-once]
}

#[racelog::instrument]
fn receive(channel: &Channel) -> u64 {
    while !channel.is_written.load(Ordering::Acquire) {
        thread::park();
    }
    // SAFETY: the flag is set: the letter is written, and nobody else uses it any more.
    unsafe { *channel.letter.get() }
}

fn pass(size: &Size, receive: fn(&Channel) -> u64) {
    let channel = Channel::default();
    let receiver = thread::current();
    thread::scope(|scope| {
        scope.spawn(|| send(&channel, &receiver));
        for _ in 0..size.threads {
            scope.spawn(|| receiver.unpark());
        }
        racelog::check!(receive(&channel) == LETTER, "the letter that arrives was sent");
    });
}
