//! Mirror of [`crossbeam_channel`], without all that selects or tells the time.
//!
//! The channels are those of [`crate::sync::mpsc`] with any number of receivers, and recorded as
//! they are. How many messages there are is recorded only where there are none, or no room for
//! more: a program that goes by another [`len`](Receiver::len) does so unseen.
//!
//! Absent are `after`, `at`, `never`, `tick`, `select!`, `select_biased!` and `Select`.

use std::fmt;
use std::iter::FusedIterator;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

pub use crossbeam_channel::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};

use crate::sched::Deadline;
use crate::sync::mpsc::channel::{Channel, Patience};

/// A channel without bound, as [`crossbeam_channel::unbounded`].
///
/// ```
/// use racelog::crossbeam::channel::unbounded;
///
/// let (sender, receiver) = unbounded();
/// let sum: u32 = std::thread::scope(|scope| {
///     let workers = [receiver.clone(), receiver]
///         .map(|receiver| scope.spawn(move || receiver.iter().sum::<u32>()));
///     (1..=10).for_each(|number| sender.send(number).unwrap());
///     drop(sender);
///     workers.into_iter().map(|worker| worker.join().unwrap()).sum()
/// });
/// assert_eq!(sum, 55);
/// ```
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    pair(Channel::unbounded())
}

/// A channel that holds up to `cap` messages, as [`crossbeam_channel::bounded`]. With a capacity of
/// 0 each message goes from hand to hand.
#[track_caller]
pub fn bounded<T>(cap: usize) -> (Sender<T>, Receiver<T>) {
    pair(Channel::bounded(cap, Some(Location::caller())).keeping())
}

fn pair<T>(channel: Channel<T>) -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(channel);
    (Sender { channel: channel.clone() }, Receiver { channel })
}

/// The sending side of a channel, as [`crossbeam_channel::Sender`].
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
}

/// The receiving side of a channel, as [`crossbeam_channel::Receiver`].
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
}

impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}
impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> Sender<T> {
    /// As [`crossbeam_channel::Sender::try_send`].
    #[track_caller]
    pub fn try_send(&self, msg: T) -> Result<(), TrySendError<T>> {
        let sent = self.channel.try_send(msg, Some(Location::caller()));
        sent.map_err(|error| match error {
            mpsc::TrySendError::Full(msg) => TrySendError::Full(msg),
            mpsc::TrySendError::Disconnected(msg) => TrySendError::Disconnected(msg),
        })
    }

    /// As [`crossbeam_channel::Sender::send`].
    #[track_caller]
    pub fn send(&self, msg: T) -> Result<(), SendError<T>> {
        self.send_within(msg, Patience::Forever).map_err(|error| SendError(error.into_inner()))
    }

    /// As [`crossbeam_channel::Sender::send_timeout`].
    #[track_caller]
    pub fn send_timeout(&self, msg: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_within(msg, Patience::of(timeout))
    }

    /// As [`crossbeam_channel::Sender::send_deadline`].
    #[track_caller]
    pub fn send_deadline(&self, msg: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_within(msg, Patience::Until(Deadline::at(deadline)))
    }

    #[track_caller]
    fn send_within(&self, msg: T, patience: Patience) -> Result<(), SendTimeoutError<T>> {
        let sent = self.channel.send(msg, patience, Some(Location::caller()));
        sent.map_err(|error| match error {
            mpsc::TrySendError::Full(msg) => SendTimeoutError::Timeout(msg),
            mpsc::TrySendError::Disconnected(msg) => SendTimeoutError::Disconnected(msg),
        })
    }
}

impl<T> Receiver<T> {
    /// As [`crossbeam_channel::Receiver::try_recv`].
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.recv_within(Patience::None).map_err(|error| match error {
            RecvTimeoutError::Timeout => TryRecvError::Empty,
            RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
        })
    }

    /// As [`crossbeam_channel::Receiver::recv`].
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.recv_within(Patience::Forever).map_err(|_| RecvError)
    }

    /// As [`crossbeam_channel::Receiver::recv_timeout`].
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_within(Patience::of(timeout))
    }

    /// As [`crossbeam_channel::Receiver::recv_deadline`].
    #[track_caller]
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_within(Patience::Until(Deadline::at(deadline)))
    }

    #[track_caller]
    fn recv_within(&self, patience: Patience) -> Result<T, RecvTimeoutError> {
        let received = self.channel.receive(patience, Some(Location::caller()));
        received.map_err(|error| match error {
            mpsc::RecvTimeoutError::Timeout => RecvTimeoutError::Timeout,
            mpsc::RecvTimeoutError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// As [`crossbeam_channel::Receiver::iter`].
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// As [`crossbeam_channel::Receiver::try_iter`].
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }
}

macro_rules! both_sides {
    ($($Side:ident)*) => {$(
        impl<T> $Side<T> {
            #[doc = concat!("As [`crossbeam_channel::", stringify!($Side), "::is_empty`].")]
            #[track_caller]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            #[doc = concat!("As [`crossbeam_channel::", stringify!($Side), "::is_full`].")]
            #[track_caller]
            pub fn is_full(&self) -> bool {
                self.capacity() == Some(self.len())
            }

            #[doc = concat!("As [`crossbeam_channel::", stringify!($Side), "::len`].")]
            #[track_caller]
            pub fn len(&self) -> usize {
                self.channel.len(Some(Location::caller()))
            }

            #[doc = concat!("As [`crossbeam_channel::", stringify!($Side), "::capacity`].")]
            pub fn capacity(&self) -> Option<usize> {
                self.channel.capacity()
            }

            #[doc = concat!("As [`crossbeam_channel::", stringify!($Side), "::same_channel`].")]
            pub fn same_channel(&self, other: &$Side<T>) -> bool {
                Arc::ptr_eq(&self.channel, &other.channel)
            }
        }
    )*};
}

both_sides!(Sender Receiver);

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.channel.add_sender();
        Self { channel: self.channel.clone() }
    }
}

impl<T> Clone for Receiver<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.channel.add_receiver(Some(Location::caller()));
        Self { channel: self.channel.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.channel.drop_sender();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.channel.drop_receiver();
    }
}

/// Waits for message after message, as [`crossbeam_channel::Iter`].
pub struct Iter<'a, T> {
    receiver: &'a Receiver<T>,
}

/// Takes the messages that are there, as [`crossbeam_channel::TryIter`].
pub struct TryIter<'a, T> {
    receiver: &'a Receiver<T>,
}

/// Waits for message after message and owns the receiver, as [`crossbeam_channel::IntoIter`].
pub struct IntoIter<T> {
    receiver: Receiver<T>,
}

impl<T> FusedIterator for Iter<'_, T> {}
impl<T> FusedIterator for IntoIter<T> {}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}

macro_rules! debug {
    ($($Type:ty: $text:literal;)*) => {$(
        impl<T> fmt::Debug for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad($text)
            }
        }
    )*};
}

debug! {
    Sender<T>: "Sender { .. }";
    Receiver<T>: "Receiver { .. }";
    Iter<'_, T>: "Iter { .. }";
    TryIter<'_, T>: "TryIter { .. }";
    IntoIter<T>: "IntoIter { .. }";
}
