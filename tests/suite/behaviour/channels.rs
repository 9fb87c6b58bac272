//! `mpsc`.

use crate::both::for_both;

for_both! {
    use std::time::{Duration, Instant};

    use root::sync::Barrier;
    use root::sync::mpsc::{
        RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError, channel, sync_channel,
    };
    use root::thread;

    const SHORT: Duration = Duration::from_millis(3);
    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn many_send_to_one() {
        let (sender, receiver) = channel();
        for number in 0..8 {
            let sender = sender.clone();
            thread::spawn(move || sender.send(number).unwrap());
        }
        drop(sender);
        let mut numbers: Vec<i32> = receiver.iter().collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(receiver.recv(), Err(RecvError));
    }

    #[test]
    fn the_order_of_one_sender_is_kept() {
        let (sender, receiver) = channel();
        let sending = thread::spawn(move || (0..20).try_for_each(|number| sender.send(number)));
        assert!(receiver.into_iter().eq(0..20));
        sending.join().unwrap().unwrap();
    }

    #[test]
    fn a_bound_holds_senders_back() {
        let (sender, receiver) = sync_channel(2);
        sender.send(1).unwrap();
        sender.try_send(2).unwrap();
        assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
        thread::scope(|scope| {
            let sender = sender.clone();
            scope.spawn(move || sender.send(4).unwrap());
            assert_eq!(receiver.recv(), Ok(1));
            assert_eq!(receiver.recv(), Ok(2));
            assert_eq!(receiver.recv(), Ok(4));
        });
        sender.send(5).unwrap();
        drop(sender);
        assert_eq!(receiver.into_iter().collect::<Vec<_>>(), [5]);
    }

    #[test]
    fn without_room_a_message_goes_from_hand_to_hand() {
        let (sender, receiver) = sync_channel(0);
        assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
        thread::scope(|scope| {
            scope.spawn(move || {
                for number in 0..5 {
                    sender.send(number).unwrap();
                }
            });
            for number in 0..5 {
                assert_eq!(receiver.recv(), Ok(number));
            }
            assert_eq!(receiver.recv(), Err(RecvError));
        });
    }

    #[test]
    fn nothing_there_is_not_the_end() {
        let (sender, receiver) = channel();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        sender.send('a').unwrap();
        assert_eq!(receiver.try_recv(), Ok('a'));
        sender.send('b').unwrap();
        sender.send('c').unwrap();
        assert_eq!(receiver.try_iter().collect::<String>(), "bc");
        assert_eq!(receiver.try_iter().next(), None);
        sender.send('d').unwrap();
        drop(sender);
        assert_eq!(receiver.try_recv(), Ok('d'));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    }

    #[test]
    fn patience_ends() {
        let (sender, receiver) = channel();
        let start = Instant::now();
        assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
        assert!(start.elapsed() >= SHORT);
        thread::scope(|scope| {
            scope.spawn(|| sender.send(1).unwrap());
            assert_eq!(receiver.recv_timeout(LONG), Ok(1));
            scope.spawn(|| sender.send(2).unwrap());
            assert_eq!(receiver.recv_timeout(Duration::MAX), Ok(2));
        });
        drop(sender);
        assert_eq!(receiver.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
    }

    #[test]
    fn without_a_receiver_messages_come_back() {
        let (sender, receiver) = channel();
        sender.send("unread").unwrap();
        drop(receiver);
        assert_eq!(sender.send("back"), Err(SendError("back")));
        let (sender, receiver) = sync_channel(1);
        sender.send("unread").unwrap();
        drop(receiver);
        assert_eq!(sender.send("back"), Err(SendError("back")));
        assert_eq!(sender.try_send("back"), Err(TrySendError::Disconnected("back")));
    }

    #[test]
    fn a_receiver_that_goes_frees_who_waits() {
        let (sender, receiver) = sync_channel(0);
        let at_once = Barrier::new(2);
        thread::scope(|scope| {
            let sending = scope.spawn(|| {
                at_once.wait();
                sender.send(1)
            });
            at_once.wait();
            drop(receiver);
            assert_eq!(sending.join().unwrap(), Err(SendError(1)));
        });
    }

    #[test]
    fn what_is_left_is_dropped() {
        use std::sync::Arc;
        let token = Arc::new(());
        let (sender, receiver) = channel();
        for _ in 0..3 {
            sender.send(Arc::clone(&token)).unwrap();
        }
        assert_eq!(Arc::strong_count(&token), 4);
        drop(receiver);
        assert_eq!(Arc::strong_count(&token), 1);
        let error = sender.send(Arc::clone(&token)).unwrap_err();
        assert_eq!(Arc::strong_count(&error.0), 2);
    }

    #[test]
    fn channels_travel_through_channels() {
        let (requests, service) = channel::<(u32, root::sync::mpsc::Sender<u32>)>();
        let serving = thread::spawn(move || {
            for (number, reply) in &service {
                reply.send(number * number).unwrap();
            }
        });
        for number in [3, 4] {
            let (reply, answer) = channel();
            requests.send((number, reply)).unwrap();
            assert_eq!(answer.recv(), Ok(number * number));
            assert_eq!(answer.recv(), Err(RecvError));
        }
        drop(requests);
        serving.join().unwrap();
    }

    #[test]
    fn what_is_shown() {
        let (sender, receiver) = channel::<u8>();
        let (sync_sender, _other) = sync_channel::<u8>(1);
        assert_eq!(
            format!("{sender:?} {sync_sender:?} {receiver:?}"),
            "Sender { .. } SyncSender { .. } Receiver { .. }"
        );
        assert_eq!(format!("{:?}", receiver.iter()), "Iter { rx: Receiver { .. } }");
        assert_eq!(format!("{:?}", receiver.try_iter()), "TryIter { rx: Receiver { .. } }");
        assert_eq!(format!("{:?}", receiver.into_iter()), "IntoIter { rx: Receiver { .. } }");
        assert_eq!(sender.send(1).unwrap_err().to_string(), "sending on a closed channel");
    }
}
