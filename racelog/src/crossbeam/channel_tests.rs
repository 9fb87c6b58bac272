//! The same tests for crossbeam's channels and, where recording is compiled in, for their mirror.

macro_rules! same_for {
    ($($name:ident: $($channel:tt)::+;)*) => {$(
        mod $name {
            use std::sync::Arc;
            use std::thread;
            use std::time::{Duration, Instant};

            use $($channel)::+::*;

            #[test]
            fn messages_come_in_order_until_the_senders_are_gone() {
                let (sender, receiver) = unbounded();
                assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
                sender.send(1).expect("there is a receiver");
                sender.clone().try_send(2).expect("there is a receiver");
                sender.send_timeout(3, Duration::MAX).expect("there is a receiver");
                assert_eq!((sender.len(), receiver.len(), sender.capacity()), (3, 3, None));
                assert!(!receiver.is_full() && !receiver.is_empty());
                assert_eq!(receiver.recv(), Ok(1));
                assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2, 3]);
                assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
                drop(sender);
                assert_eq!(receiver.recv(), Err(RecvError));
                let late = receiver.recv_deadline(Instant::now());
                assert_eq!(late, Err(RecvTimeoutError::Disconnected));
                assert!(receiver.is_empty());
            }

            #[test]
            fn a_channel_ends_with_its_last_receiver() {
                let (sender, receiver) = bounded(1);
                let other = receiver.clone();
                assert!(receiver.same_channel(&other) && sender.same_channel(&sender.clone()));
                drop(receiver);
                let message = Arc::new(());
                sender.send(message.clone()).expect("there is a receiver");
                assert!(sender.is_full() && sender.capacity() == Some(1));
                let full = sender.try_send(message.clone());
                assert_eq!(full, Err(TrySendError::Full(message.clone())));
                let late = sender.send_deadline(message.clone(), Instant::now());
                assert_eq!(late, Err(SendTimeoutError::Timeout(message.clone())));
                drop((full, late, other));
                assert_eq!(sender.send(message.clone()), Err(SendError(message.clone())));
                // What was not received stays as long as the channel.
                assert_eq!((Arc::strong_count(&message), sender.len()), (2, 1));
                drop(sender);
                assert_eq!(Arc::strong_count(&message), 1);
            }

            #[test]
            fn a_rendezvous_needs_two() {
                let (sender, receiver) = bounded(0);
                assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
                let alone = sender.send_timeout(1, Duration::from_millis(1));
                assert_eq!(alone, Err(SendTimeoutError::Timeout(1)));
                assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
                assert!(receiver.is_empty() && receiver.is_full());
                thread::scope(|scope| {
                    scope.spawn(|| sender.send(2).expect("there is a receiver"));
                    assert_eq!(receiver.recv(), Ok(2));
                    scope.spawn(|| sender.send_timeout(3, Duration::MAX).expect("it is taken"));
                    while receiver.try_recv() != Ok(3) {
                        thread::yield_now();
                    }
                    scope.spawn(|| assert_eq!(receiver.recv(), Ok(4)));
                    // Once somebody waits, no patience is needed.
                    while sender.send_deadline(4, Instant::now()).is_err() {
                        thread::yield_now();
                    }
                });
            }

            #[test]
            fn every_message_goes_to_one_receiver() {
                for bound in [None, Some(0), Some(1), Some(4)] {
                    let (sender, receiver) = bound.map_or_else(unbounded, bounded);
                    let sum: u64 = thread::scope(|scope| {
                        for _ in 0..3 {
                            let sender = sender.clone();
                            scope.spawn(move || (1..=200).for_each(|n| sender.send(n).unwrap()));
                        }
                        drop(sender);
                        let receivers: Vec<_> = (0..3)
                            .map(|_| receiver.clone())
                            .map(|receiver| scope.spawn(|| receiver.into_iter().sum::<u64>()))
                            .collect();
                        drop(receiver);
                        receivers.into_iter().map(|thread| thread.join().unwrap()).sum()
                    });
                    assert_eq!(sum, 3 * 200 * 201 / 2);
                }
            }

            #[test]
            fn they_look_like_crossbeams() {
                fn check<T: Send + Sync + std::panic::RefUnwindSafe>() {}
                check::<Sender<std::cell::Cell<u8>>>();
                check::<Receiver<std::cell::Cell<u8>>>();
                let (sender, receiver) = unbounded::<u8>();
                assert_eq!(format!("{sender:?} {receiver:?}"), "Sender { .. } Receiver { .. }");
                assert_eq!(format!("{:?}", receiver.iter()), "Iter { .. }");
                assert_eq!(format!("{:?}", receiver.try_iter()), "TryIter { .. }");
                assert_eq!(format!("{:?}", receiver.into_iter()), "IntoIter { .. }");
            }
        }
    )*};
}

same_for! {
    ours: crate::crossbeam::channel;
    theirs: crossbeam_channel;
}

#[cfg(feature = "record")]
mod recorded {
    use std::time::Duration;

    use crate::child_trace::{events, in_child, replay};
    use crate::crossbeam::channel::{bounded, unbounded};
    use crate::thread;

    const HERE: &str = "crossbeam::channel_tests::recorded";

    #[test]
    fn receivers_are_counted_once_there_are_several() {
        if in_child() {
            let (sender, receiver) = unbounded();
            let other = receiver.clone();
            sender.send(1).expect("there is a receiver");
            assert_eq!(other.recv(), Ok(1));
            assert!(receiver.is_empty());
            drop(receiver);
            drop(other);
            sender.send(2).expect_err("there is no receiver");
            let (sender, receiver) = bounded(0);
            sender.send_timeout(3, Duration::ZERO).expect_err("nobody waits");
            assert!(receiver.try_recv().is_err());
            return;
        }
        let trace = events(&format!("{HERE}::receivers_are_counted_once_there_are_several"));
        replay(&trace);
        let words = trace.iter().map(|event| event.op.keyword());
        let words: Vec<_> = words.collect();
        let first = ["rmw", "send", "recv", "recv_empty", "rmw", "load", "rclose", "send_closed"];
        // The message that nobody wanted goes back to its sender.
        let second = ["send", "recv", "recv_empty"];
        assert_eq!(words[..11], [&first[..], &second].concat());
    }

    #[test]
    fn many_threads_leave_a_trace_that_can_be_replayed() {
        if in_child() {
            for bound in [None, Some(0), Some(1), Some(3)] {
                let (sender, receiver) = bound.map_or_else(unbounded, bounded);
                thread::scope(|scope| {
                    for thread in 0..3 {
                        let (sender, receiver) = (sender.clone(), receiver.clone());
                        scope.spawn(move || {
                            for message in 0..50 {
                                match thread {
                                    0 => drop(sender.try_send(message)),
                                    _ => drop(sender.send(message)),
                                }
                            }
                        });
                        // Some of the senders may find all receivers gone.
                        scope.spawn(move || receiver.iter().take(40).for_each(drop));
                    }
                    drop((sender, receiver));
                });
            }
            return;
        }
        let trace = events(&format!("{HERE}::many_threads_leave_a_trace_that_can_be_replayed"));
        replay(&trace);
        let closes = trace.iter().filter(|event| event.op.keyword() == "close").count();
        assert_eq!(closes, 4 * 4);
    }
}
