//! What single operations and whole programs leave in the trace.

use std::thread;

use super::super::{channel, sync_channel};
use super::*;
use crate::child_trace::{events, in_child, located_events, replay};
use crate::sched::TestSession;

const HERE: &str = "sync::mpsc::record::tests";

fn keywords(name: &str) -> Vec<&'static str> {
    let trace = events(&format!("{HERE}::{name}"));
    replay(&trace);
    let words = trace.iter().map(|event| event.op.keyword());
    words.filter(|word| *word != "end").collect()
}

#[test]
fn one_thread_with_a_channel_without_bound() {
    if in_child() {
        let (sender, receiver) = channel();
        receiver.try_recv().expect_err("nothing was sent");
        sender.send(5).expect("the receiver lives");
        assert_eq!(receiver.recv(), Ok(5));
        drop(sender.clone());
        drop(sender);
        receiver.recv().expect_err("all senders are gone");
        let (sender, receiver) = channel();
        drop(receiver);
        sender.send(6).expect_err("the receiver is gone");
        return;
    }
    let seen = keywords("one_thread_with_a_channel_without_bound");
    let first = ["recv_empty", "send", "recv", "close", "close", "recv_closed"];
    // The first receiver is dropped last, after the second sender.
    assert_eq!(seen, [&first[..], &["rclose", "send_closed", "close", "rclose"]].concat());
}

#[test]
fn one_thread_with_a_bounded_channel() {
    if in_child() {
        let (sender, receiver) = sync_channel(2);
        sender.send(1).expect("there is room");
        sender.try_send(2).expect("there is room");
        sender.try_send(3).expect_err("there is no room");
        assert_eq!(receiver.recv(), Ok(1));
        sender.send(4).expect("there is room");
        return;
    }
    let seen = keywords("one_thread_with_a_bounded_channel");
    assert_eq!(seen, ["send", "send", "send_full", "recv", "send", "rclose", "close"]);
}

#[test]
fn the_trace_says_how_many_messages_there_is_room_for() {
    if in_child() {
        for bound in [1, 5000] {
            let (sender, receiver) = sync_channel(bound);
            sender.send(1).expect("there is room");
            assert_eq!(receiver.recv(), Ok(1));
        }
        let (sender, receiver) = channel();
        sender.send(1).expect("the receiver lives");
        assert_eq!(receiver.recv(), Ok(1));
        return;
    }
    let trace =
        located_events(&format!("{HERE}::the_trace_says_how_many_messages_there_is_room_for"));
    let sends = trace.iter().filter_map(|(event, _, dictionary)| match event.op {
        Op::Send { channel, .. } => Some(dictionary.capacity(channel)),
        _ => None,
    });
    assert_eq!(sends.collect::<Vec<_>>(), [Some(1), Some(5000), None]);
}

#[test]
fn many_threads_leave_a_trace_that_can_be_replayed() {
    // Miri takes a second for a message.
    const MESSAGES: usize = if cfg!(miri) { 8 } else { 100 };
    if in_child() {
        for bound in [None, Some(0), Some(1), Some(3)] {
            let (sender, receiver) = sync_channel(bound.unwrap_or(0));
            let (unbounded, unbounded_receiver) = channel();
            thread::scope(|scope| {
                for thread in 0..4 {
                    let (sender, unbounded) = (sender.clone(), unbounded.clone());
                    scope.spawn(move || {
                        for message in 0..MESSAGES {
                            match bound {
                                None => unbounded.send(message).expect("it lives"),
                                Some(_) if thread == 0 => drop(sender.try_send(message)),
                                Some(_) => drop(sender.send(message)),
                            }
                        }
                    });
                }
                drop((sender, unbounded));
                // Some of the senders find the receiver gone.
                receiver.iter().take(MESSAGES * 5 / 2).for_each(drop);
                receiver.try_iter().take(10).for_each(drop);
                drop(receiver);
                unbounded_receiver.into_iter().for_each(drop);
            });
        }
        return;
    }
    let seen = keywords("many_threads_leave_a_trace_that_can_be_replayed");
    assert_eq!(seen.iter().filter(|word| **word == "close").count(), 4 * 2 * 5);
}

#[test]
fn messages_of_others_pass_unseen_until_one_of_ours_goes_to_them() {
    if in_child() {
        // With two sessions at once, threads that neither of them started are in no trace.
        let outer = TestSession::start("mpsc", "outer");
        let session = TestSession::start("mpsc", "ours");
        let (sender, receiver) = sync_channel(2);
        let other = thread::scope(|scope| scope.spawn(|| sender.send(0)).join());
        other.expect("it does not panic").expect("the receiver lives");
        sender.send(1).expect("the receiver lives");
        sender.try_send(2).expect_err("there is no room, but the trace sees some");
        assert_eq!(receiver.recv(), Ok(0));
        assert_eq!(receiver.recv(), Ok(1));
        sender.send(2).expect("the receiver lives");
        let taker = thread::spawn(|| receiver.recv().map(|message| (message, receiver)));
        let (message, receiver) = taker.join().expect("it does not panic").expect("it is sent");
        assert_eq!(message, 2);
        // From here on nothing is recorded.
        sender.send(3).expect("the receiver lives");
        assert_eq!(receiver.recv(), Ok(3));
        drop((sender, receiver, session, outer));
        return;
    }
    let seen = keywords("messages_of_others_pass_unseen_until_one_of_ours_goes_to_them");
    assert_eq!(seen, ["send", "recv", "send"]);
}
