//! What channels do, recorded or not.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::*;

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(3600);

/// Runs code of its own when it is dropped: sends on a channel.
struct Noisy(Sender<&'static str>);

impl Drop for Noisy {
    fn drop(&mut self) {
        // Nobody may listen any more.
        let _ = self.0.send("dropped");
    }
}

#[test]
fn messages_come_in_order_and_before_the_end() {
    let (sender, receiver) = channel();
    let other = sender.clone();
    sender.send(1).unwrap();
    other.send(2).unwrap();
    drop(sender);
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(receiver.try_recv(), Ok(2));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    other.send(3).unwrap();
    drop(other);
    assert_eq!(receiver.recv_timeout(LONG), Ok(3));
    assert_eq!(receiver.recv(), Err(RecvError));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!(receiver.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
}

#[test]
fn a_receiver_waits_for_messages_and_for_the_end() {
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        let sum = scope.spawn(move || receiver.into_iter().sum::<u32>());
        let other = sender.clone();
        scope.spawn(move || (0..1000).for_each(|n| other.send(n).unwrap()));
        (0..1000).for_each(|n| sender.send(n).unwrap());
        drop(sender);
        assert_eq!(sum.join().unwrap(), 999_000);
    });
}

#[test]
fn whoever_sends_without_a_receiver_gets_the_message_back() {
    let (sender, receiver) = channel();
    drop(receiver);
    assert_eq!(sender.send(1), Err(SendError(1)));
    for bound in [0, 1] {
        let (sender, receiver) = sync_channel(bound);
        drop(receiver);
        assert_eq!(sender.send(1), Err(SendError(1)));
        assert_eq!(sender.try_send(2), Err(TrySendError::Disconnected(2)));
    }
}

#[test]
fn timeouts_run_out_only_when_there_is_nothing() {
    let (sender, receiver) = channel();
    assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    sender.send(1).unwrap();
    assert_eq!(receiver.recv_timeout(Duration::ZERO), Ok(1));
    thread::scope(|scope| {
        let taken = scope.spawn(move || {
            let taken = receiver.recv_timeout(Duration::MAX);
            (taken, receiver.recv_timeout(LONG), receiver.recv_timeout(Duration::MAX))
        });
        sender.send(2).unwrap();
        sender.send(3).unwrap();
        drop(sender);
        let end = Err(RecvTimeoutError::Disconnected);
        assert_eq!(taken.join().unwrap(), (Ok(2), Ok(3), end));
    });
}

#[test]
fn iterators_end_where_they_should() {
    let (sender, receiver) = channel();
    (0..4).for_each(|n| sender.send(n).unwrap());
    assert_eq!(receiver.iter().next(), Some(0));
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    sender.send(4).unwrap();
    drop(sender);
    let mut seen = Vec::new();
    for n in &receiver {
        seen.push(n);
    }
    assert_eq!(seen, [4]);
    assert_eq!(receiver.into_iter().next(), None);
}

#[test]
fn a_bounded_channel_holds_its_bound() {
    let (sender, receiver) = sync_channel(2);
    sender.send(1).unwrap();
    sender.try_send(2).unwrap();
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    assert_eq!(receiver.recv(), Ok(1));
    sender.try_send(3).unwrap();
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn senders_wait_while_a_bounded_channel_is_full() {
    const SENDERS: usize = 3;
    const EACH: usize = 200;
    for bound in [0, 1, 2, 5] {
        let (sender, receiver) = sync_channel(bound);
        let (sent, asked) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..SENDERS {
                let sender = sender.clone();
                scope.spawn(move || {
                    for n in 0..EACH {
                        sender.send(n).unwrap();
                        let sent = sent.fetch_add(1, Ordering::SeqCst) + 1;
                        assert!(sent <= asked.load(Ordering::SeqCst) + bound);
                    }
                });
            }
            drop(sender);
            for _ in 0..SENDERS * EACH {
                asked.fetch_add(1, Ordering::SeqCst);
                receiver.recv().unwrap();
            }
            assert_eq!(receiver.recv(), Err(RecvError));
        });
    }
}

#[test]
fn waiting_senders_learn_that_the_receiver_goes() {
    for bound in [0, 1] {
        let (sender, receiver) = sync_channel(bound);
        thread::scope(|scope| {
            let senders: Vec<_> = (0..4)
                .map(|_| {
                    let sender = sender.clone();
                    scope.spawn(move || (0..).find_map(|n| sender.send(n).err()))
                })
                .collect();
            receiver.recv().unwrap();
            drop(receiver);
            for sender in senders {
                assert!(sender.join().unwrap().is_some());
            }
        });
    }
}

#[test]
fn try_send_on_a_rendezvous_channel_needs_a_waiting_receiver() {
    let (sender, receiver) = sync_channel(0);
    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    thread::scope(|scope| {
        let taken = scope.spawn(|| {
            let receiver = receiver;
            (receiver.recv(), receiver.recv_timeout(LONG), receiver.recv())
        });
        for n in [3, 4] {
            while sender.try_send(n).is_err() {
                thread::yield_now();
            }
        }
        drop(sender);
        assert_eq!(taken.join().unwrap(), (Ok(3), Ok(4), Err(RecvError)));
    });
}

#[test]
fn try_recv_on_a_rendezvous_channel_takes_what_is_offered() {
    let (sender, receiver) = sync_channel(0);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    thread::scope(|scope| {
        let offer = scope.spawn(move || sender.send(1));
        let taken = loop {
            match receiver.try_recv() {
                Err(TryRecvError::Empty) => thread::yield_now(),
                taken => break taken,
            }
        };
        assert_eq!(taken, Ok(1));
        assert_eq!(offer.join().unwrap(), Ok(()));
    });
}

#[test]
fn what_is_not_received_is_dropped_with_the_receiver_and_outside_the_lock() {
    let (listener, heard) = channel();
    let (sender, receiver) = channel();
    sender.send(Noisy(listener.clone())).unwrap();
    sender.send(Noisy(listener.clone())).unwrap();
    assert_eq!(heard.try_recv(), Err(TryRecvError::Empty));
    drop(receiver);
    assert_eq!(heard.try_iter().count(), 2);
    drop(sender.send(Noisy(listener)).unwrap_err());
    assert_eq!(heard.try_iter().count(), 1);

    // Messages that hold the channel itself, and use it when they go.
    struct Own(SyncSender<Option<Own>>);
    impl Drop for Own {
        fn drop(&mut self) {
            assert!(matches!(self.0.try_send(None), Err(TrySendError::Disconnected(None))));
        }
    }
    let (sender, receiver) = sync_channel(1);
    sender.send(Some(Own(sender.clone()))).unwrap();
    drop(receiver);
}

#[test]
fn nothing_is_kept_once_both_ends_are_gone() {
    let token = Arc::new(());
    for bound in [1, 100] {
        let (sender, receiver) = sync_channel(bound);
        sender.send(token.clone()).unwrap();
        drop(sender);
        drop(receiver);
    }
    assert_eq!(Arc::strong_count(&token), 1);
}

#[test]
fn they_look_like_std() {
    use std::sync::mpsc as std_mpsc;
    let ((sender, receiver), (theirs, their_receiver)) =
        (channel::<u8>(), std_mpsc::channel::<u8>());
    assert_eq!(format!("{sender:?}"), format!("{theirs:?}"));
    assert_eq!(format!("{receiver:?}"), format!("{their_receiver:?}"));
    assert_eq!(format!("{:?}", receiver.iter()), format!("{:?}", their_receiver.iter()));
    assert_eq!(format!("{:?}", receiver.try_iter()), format!("{:?}", their_receiver.try_iter()));
    let (ours, theirs) = (receiver.into_iter(), their_receiver.into_iter());
    assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
    let ((sender, _), (theirs, _)) = (sync_channel::<u8>(1), std_mpsc::sync_channel::<u8>(1));
    assert_eq!(format!("{sender:?}"), format!("{theirs:?}"));
}

#[test]
fn they_have_the_auto_traits_of_std() {
    /// Tells whether a type is `Sync`: where it is, both impls fit and inference cannot choose.
    trait AmbiguousIfSync<A> {
        fn is_not_sync() {}
    }
    impl<T: ?Sized> AmbiguousIfSync<()> for T {}
    impl<T: ?Sized + Sync> AmbiguousIfSync<u8> for T {}

    fn unwinds<T: UnwindSafe + RefUnwindSafe + Unpin>() {}
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    // A cell is neither shared nor unwound through.
    type Inner = std::cell::Cell<&'static mut u8>;
    unwinds::<Sender<Inner>>();
    unwinds::<SyncSender<Inner>>();
    unwinds::<Receiver<Inner>>();
    unwinds::<Iter<'_, Inner>>();
    shared::<Sender<Inner>>();
    shared::<SyncSender<Inner>>();
    sent::<Receiver<Inner>>();
    sent::<IntoIter<Inner>>();
    <Receiver<u8>>::is_not_sync();
}
