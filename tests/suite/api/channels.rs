//! `mpsc`.

use crate::both::for_both;

for_both! {
    use std::time::Duration;

    use root::sync::mpsc::{
        IntoIter, Iter, Receiver, RecvError, RecvTimeoutError, SendError, Sender, SyncSender,
        TryIter, TryRecvError, TrySendError, channel, sync_channel,
    };

    #[test]
    fn channels() {
        let _: fn() -> (Sender<u32>, Receiver<u32>) = channel;
        let _: fn(usize) -> (SyncSender<u32>, Receiver<u32>) = sync_channel;
        let _: fn(&Sender<u32>, u32) -> Result<(), SendError<u32>> = Sender::send;
        let _: fn(&SyncSender<u32>, u32) -> Result<(), SendError<u32>> = SyncSender::send;
        let _: fn(&SyncSender<u32>, u32) -> Result<(), TrySendError<u32>> = SyncSender::try_send;
        let _: fn(&Receiver<u32>) -> Result<u32, TryRecvError> = Receiver::try_recv;
        let _: fn(&Receiver<u32>) -> Result<u32, RecvError> = Receiver::recv;
        let _: fn(&Receiver<u32>, Duration) -> Result<u32, RecvTimeoutError> =
            Receiver::recv_timeout;
        let _: fn(&Receiver<u32>) -> Iter<'_, u32> = Receiver::iter;
        let _: fn(&Receiver<u32>) -> TryIter<'_, u32> = Receiver::try_iter;
        let _: fn(&Sender<u32>) -> Sender<u32> = Clone::clone;
        let _: fn(&SyncSender<u32>) -> SyncSender<u32> = Clone::clone;
    }

    #[test]
    fn iterators() {
        let _: fn(&mut Iter<'static, u32>) -> Option<u32> = Iterator::next;
        let _: fn(&mut TryIter<'static, u32>) -> Option<u32> = Iterator::next;
        let _: fn(&mut IntoIter<u32>) -> Option<u32> = Iterator::next;
        let _: fn(&'static Receiver<u32>) -> Iter<'static, u32> = IntoIterator::into_iter;
        let _: fn(Receiver<u32>) -> IntoIter<u32> = IntoIterator::into_iter;
    }

    #[test]
    fn errors() {
        let _: fn(u32) -> SendError<u32> = SendError;
        let _: [fn(u32) -> TrySendError<u32>; 2] = [TrySendError::Full, TrySendError::Disconnected];
        let _: RecvError = RecvError;
        let _: [TryRecvError; 2] = [TryRecvError::Empty, TryRecvError::Disconnected];
        let _: [RecvTimeoutError; 2] = [RecvTimeoutError::Timeout, RecvTimeoutError::Disconnected];
        let _: fn(SendError<u32>) -> TrySendError<u32> = From::from;
        let _: fn(RecvError) -> TryRecvError = From::from;
        let _: fn(RecvError) -> RecvTimeoutError = From::from;
        // They are std's, so code that speaks of std's understands ours.
        let _: fn(SendError<u32>) -> std::sync::mpsc::SendError<u32> = |error| error;
        let _: fn(RecvError) -> std::sync::mpsc::RecvError = |error| error;
    }

    /// Messages need not be `Send`, or anything else, for a channel to exist.
    #[test]
    fn any_message_will_do() {
        let (sender, receiver) = channel::<std::rc::Rc<dyn Fn() -> u32>>();
        sender.send(std::rc::Rc::new(|| 5)).ok().unwrap();
        assert_eq!(receiver.recv().unwrap()(), 5);
        let _ = format!("{sender:?} {receiver:?}");
    }
}
