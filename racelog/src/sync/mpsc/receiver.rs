//! The receiving half, and iterators over what it receives.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{RecvError, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use super::channel::{Channel, Patience};

/// The receiving half of a channel, as [`std::sync::mpsc::Receiver`].
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    /// One thread at a time has the receiver.
    not_sync: PhantomData<Cell<()>>,
}

/// Waits for message after message, as [`std::sync::mpsc::Iter`].
#[derive(Debug)]
pub struct Iter<'a, T: 'a> {
    rx: &'a Receiver<T>,
}

/// Takes the messages that are there, as [`std::sync::mpsc::TryIter`].
#[derive(Debug)]
pub struct TryIter<'a, T: 'a> {
    rx: &'a Receiver<T>,
}

/// Waits for message after message and owns the receiver, as [`std::sync::mpsc::IntoIter`].
#[derive(Debug)]
pub struct IntoIter<T> {
    rx: Receiver<T>,
}

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> Receiver<T> {
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Self { channel, not_sync: PhantomData }
    }

    /// As [`std::sync::mpsc::Receiver::try_recv`].
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let received = self.channel.receive(Patience::None, Some(Location::caller()));
        received.map_err(|error| match error {
            RecvTimeoutError::Timeout => TryRecvError::Empty,
            RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
        })
    }

    /// As [`std::sync::mpsc::Receiver::recv`].
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        let received = self.channel.receive(Patience::Forever, Some(Location::caller()));
        received.map_err(|_| RecvError)
    }

    /// As [`std::sync::mpsc::Receiver::recv_timeout`].
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.channel.receive(Patience::of(timeout), Some(Location::caller()))
    }

    /// As [`std::sync::mpsc::Receiver::iter`].
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { rx: self }
    }

    /// As [`std::sync::mpsc::Receiver::try_iter`].
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { rx: self }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.channel.drop_receiver();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.rx.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.rx.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.rx.recv().ok()
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
        IntoIter { rx: self }
    }
}
