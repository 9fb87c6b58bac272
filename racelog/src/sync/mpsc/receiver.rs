//! The receiving half, and iterators over what it receives.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::mpsc::{RecvError, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use super::halves::{ReceivingHalf, receiver_iterators};
use super::patience::Patience;
use crate::rt::CallSite;

/// The receiving half of a channel, as [`std::sync::mpsc::Receiver`].
pub struct Receiver<T> {
    half: ReceivingHalf<T>,
    /// One thread at a time has the receiver.
    not_sync: PhantomData<Cell<()>>,
}

receiver_iterators!("std::sync::mpsc", #[derive(Debug)]);

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> Receiver<T> {
    pub(super) fn new(half: ReceivingHalf<T>) -> Self {
        Self { half, not_sync: PhantomData }
    }

    /// As [`std::sync::mpsc::Receiver::try_recv`].
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let received = self.half.receive(Patience::None, Some(CallSite::caller()));
        received.map_err(|error| match error {
            RecvTimeoutError::Timeout => TryRecvError::Empty,
            RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
        })
    }

    /// As [`std::sync::mpsc::Receiver::recv`].
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        let received = self.half.receive(Patience::Forever, Some(CallSite::caller()));
        received.map_err(|_| RecvError)
    }

    /// As [`std::sync::mpsc::Receiver::recv_timeout`].
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.half.receive(Patience::of(timeout), Some(CallSite::caller()))
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
