//! Channels that are full, and channels that nobody reads.
//!
//! - `two_channels`: two senders fill two channels of one place each, in opposite orders, for one
//!   receiver that empties one channel first. If the second channel is filled by the one that is
//!   done with the first, the other never gets to the first. In `two_channels_fixed` there is room
//!   for all.
//! - `full_under_lock`: a thread sends under a lock into a channel that may be full, and the
//!   receiver takes the lock before it receives. In `full_under_lock_fixed` it sends without the
//!   lock.
//! - `send_to_nobody`: the receiver goes when it has what it wants, and the sender may have more.
//!   In `send_to_nobody_fixed` it stays until the sender has ended.

use racelog::sync::Mutex;
use racelog::sync::mpsc::sync_channel;
use racelog::thread;

use crate::turns::Turns;
use crate::{Goal, GoalKind, Origin, Program, Size, Source};

const SOURCE: Source = Source { file: file!(), text: include_str!("channels.rs") };

/// What is said of the two channels.
pub static TWO_CHANNELS: Program = Program {
    name: "two_channels",
    about: "two senders fill two channels in opposite orders, the receiver empties one first",
    origin: Origin::Hangs,
    source: SOURCE,
    run: |_| run_two_channels(1),
    small: Size::new(2, 1),
    large: Size::new(2, 1),
    races: &[],
    goals: &[Goal::new(
        GoalKind::Stall,
        &["send-second", "receive-again"],
        "the second channel is full, and the first one empty",
    )],
    schedule: "random:2",
    hangs: Some("the second channel is full, and the first one empty"),
};

/// What is said of their right twin.
pub static TWO_CHANNELS_FIXED: Program = Program {
    name: "two_channels_fixed",
    about: "as `two_channels`, with room for all that is sent",
    run: |_| run_two_channels(2),
    goals: &[],
    hangs: None,
    ..TWO_CHANNELS
};

/// What is said of the channel that is full.
pub static FULL_UNDER_LOCK: Program = Program {
    name: "full_under_lock",
    about: "a message is sent under a lock that the receiver takes before it makes room",
    run: |_| run_full_under_lock(true),
    goals: &[Goal::new(
        GoalKind::Stall,
        &["send-when-full"],
        "the channel is full, and who could make room waits for the lock",
    )],
    hangs: Some("the channel is full, and who could make room waits for the lock"),
    ..TWO_CHANNELS
};

/// What is said of its right twin.
pub static FULL_UNDER_LOCK_FIXED: Program = Program {
    name: "full_under_lock_fixed",
    about: "as `full_under_lock`, but the message is sent without the lock",
    run: |_| run_full_under_lock(false),
    goals: &[],
    hangs: None,
    ..TWO_CHANNELS
};

/// What is said of the receiver that goes.
pub static SEND_TO_NOBODY: Program = Program {
    name: "send_to_nobody",
    about: "the receiver goes when it has one message, and the sender has two",
    run: |_| run_send_to_nobody(false),
    goals: &[Goal::new(GoalKind::SendToNobody, &["send-more"], "the receiver has gone")],
    hangs: None,
    ..TWO_CHANNELS
};

/// What is said of its right twin.
pub static SEND_TO_NOBODY_FIXED: Program = Program {
    name: "send_to_nobody_fixed",
    about: "as `send_to_nobody`, but the receiver stays until the sender has ended",
    run: |_| run_send_to_nobody(true),
    goals: &[],
    ..SEND_TO_NOBODY
};

fn run_two_channels(room: usize) {
    let (first, from_first) = sync_channel(room);
    let (second, from_second) = sync_channel(room);
    let (first_too, second_too) = (first.clone(), second.clone());
    let turns = Turns::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            turns.after(1);
            first.send(1).unwrap();
            turns.over();
            second.send(2).unwrap();
        });
        scope.spawn(|| {
            second_too.send(3).unwrap(); // [send-second]
            turns.over();
            turns.after(2);
            first_too.send(4).unwrap();
        });
        from_first.recv().unwrap();
        from_first.recv().unwrap(); // [receive-again]
        from_second.recv().unwrap();
        from_second.recv().unwrap();
    });
}

fn run_full_under_lock(under_lock: bool) {
    let (sender, receiver) = sync_channel(1);
    let (lock, turns) = (Mutex::new(()), Turns::new());
    sender.send(0).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            turns.after(1);
            let guard = lock.lock().unwrap();
            let _guard = under_lock.then_some(guard);
            sender.send(1).unwrap(); // [send-when-full]
        });
        drop(lock.lock().unwrap());
        receiver.recv().unwrap();
        turns.over();
        receiver.recv().unwrap();
    });
}

fn run_send_to_nobody(stays: bool) {
    let (sender, receiver) = sync_channel(2);
    let turns = Turns::new();
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            sender.send(1).unwrap();
            let _is_heard = sender.send(2).is_ok(); // [send-more]
            turns.over();
        });
        turns.after(1);
        receiver.recv().unwrap();
        if stays {
            worker.join().unwrap();
        }
        drop(receiver);
    });
}
