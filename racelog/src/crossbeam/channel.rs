//! Mirror of [`crossbeam_channel`], without channels that tell the time.
//!
//! The channels are those of [`crate::sync::mpsc`] with any number of receivers, and recorded as
//! they are. How many messages there are is recorded only where there are none, or no room for
//! more: a program that goes by another [`len`](Receiver::len) does so unseen.
//!
//! Of [`Select`], [`select!`] and [`select_biased!`] the operation is recorded that was chosen; a
//! thread that waits in one asks for nothing in the trace, so no finding says that it waits for
//! ever. Which of the channels `ready` and its like name is not recorded.
//!
//! Under control the seed says which of several operations is chosen that are possible; an
//! exhaustive search tries only the first of them.
//!
//! Absent are `after`, `at` and `tick`: use a selection with a time-out.

use std::fmt;
use std::iter::FusedIterator;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr;
use std::sync::mpsc;
use std::time::Duration;

pub use crossbeam_channel::{
    ReadyTimeoutError, RecvError, RecvTimeoutError, SelectTimeoutError, SendError,
    SendTimeoutError, TryReadyError, TryRecvError, TrySelectError, TrySendError,
};

pub use super::select::{Select, SelectedOperation};
pub use crate::{__crossbeam_select as select, __crossbeam_select_biased as select_biased};

use crate::rt::CallSite;
use crate::sched::Deadline;
use crate::sync::mpsc::channel::Channel;
use crate::sync::mpsc::halves::{ReceivingHalf, SendingHalf, halves, receiver_iterators};
use crate::sync::mpsc::patience::Patience;
use crate::time::Instant;

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
pub fn bounded<T>(cap: usize) -> (Sender<T>, Receiver<T>) {
    pair(Channel::bounded(cap).keeping())
}

fn pair<T>(channel: Channel<T>) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = halves(channel);
    (Sender(sender), Receiver(receiver))
}

/// A channel on which no message ever comes, as [`crossbeam_channel::never`].
#[must_use]
pub fn never<T>() -> Receiver<T> {
    // Its first sender is one that nobody has, and so nobody drops.
    Receiver(ReceivingHalf::alone(Channel::bounded(0)))
}

/// The sending side of a channel, as [`crossbeam_channel::Sender`].
pub struct Sender<T>(SendingHalf<T>);

/// The receiving side of a channel, as [`crossbeam_channel::Receiver`].
pub struct Receiver<T>(ReceivingHalf<T>);

receiver_iterators!("crossbeam_channel");

impl<T> FusedIterator for Iter<'_, T> {}
impl<T> FusedIterator for IntoIter<T> {}

impl<T> Sender<T> {
    /// As [`crossbeam_channel::Sender::try_send`].
    #[track_caller]
    pub fn try_send(&self, msg: T) -> Result<(), TrySendError<T>> {
        let sent = self.0.try_send(msg, Some(CallSite::caller()));
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
    pub fn send_deadline(
        &self,
        msg: T,
        deadline: impl Into<Instant>,
    ) -> Result<(), SendTimeoutError<T>> {
        self.send_within(msg, Patience::Until(Deadline::at(deadline.into())))
    }

    #[track_caller]
    fn send_within(&self, msg: T, patience: Patience) -> Result<(), SendTimeoutError<T>> {
        let sent = self.0.send(msg, patience, Some(CallSite::caller()));
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
    pub fn recv_deadline(&self, deadline: impl Into<Instant>) -> Result<T, RecvTimeoutError> {
        self.recv_within(Patience::Until(Deadline::at(deadline.into())))
    }

    #[track_caller]
    fn recv_within(&self, patience: Patience) -> Result<T, RecvTimeoutError> {
        let received = self.0.receive(patience, Some(CallSite::caller()));
        received.map_err(|error| match error {
            mpsc::RecvTimeoutError::Timeout => RecvTimeoutError::Timeout,
            mpsc::RecvTimeoutError::Disconnected => RecvTimeoutError::Disconnected,
        })
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
                self.0.len(Some(CallSite::caller()))
            }

            #[doc = concat!("As [`crossbeam_channel::", stringify!($Side), "::capacity`].")]
            pub fn capacity(&self) -> Option<usize> {
                self.0.capacity()
            }

            #[doc = concat!("As [`crossbeam_channel::", stringify!($Side), "::same_channel`].")]
            pub fn same_channel(&self, other: &$Side<T>) -> bool {
                ptr::eq::<Channel<T>>(&*self.0, &*other.0)
            }

            pub(super) fn channel(&self) -> &Channel<T> {
                &self.0
            }
        }

        impl<T> Clone for $Side<T> {
            #[track_caller]
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        impl<T> UnwindSafe for $Side<T> {}
        impl<T> RefUnwindSafe for $Side<T> {}
    )*};
}

both_sides!(Sender Receiver);

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
