//! The sending halves.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{SendError, TrySendError};

use super::channel::{Channel, Patience};
use crate::rt::Here;

/// The sending half of a channel without bound, as [`std::sync::mpsc::Sender`].
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
}

/// The sending half of a bounded channel, as [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T> {
    channel: Arc<Channel<T>>,
}

impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}
impl<T> UnwindSafe for SyncSender<T> {}
impl<T> RefUnwindSafe for SyncSender<T> {}

impl<T> Sender<T> {
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Self { channel }
    }

    /// As [`std::sync::mpsc::Sender::send`].
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        send(&self.channel, t, Some(Location::caller()))
    }
}

impl<T> SyncSender<T> {
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Self { channel }
    }

    /// As [`std::sync::mpsc::SyncSender::send`].
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        send(&self.channel, t, Some(Location::caller()))
    }

    /// As [`std::sync::mpsc::SyncSender::try_send`].
    #[track_caller]
    pub fn try_send(&self, t: T) -> Result<(), TrySendError<T>> {
        self.channel.try_send(t, Some(Location::caller()))
    }
}

fn send<T>(channel: &Channel<T>, t: T, here: Here) -> Result<(), SendError<T>> {
    channel.send(t, Patience::Forever, here).map_err(|error| match error {
        TrySendError::Full(t) | TrySendError::Disconnected(t) => SendError(t),
    })
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.channel.add_sender();
        Self { channel: self.channel.clone() }
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> Self {
        self.channel.add_sender();
        Self { channel: self.channel.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.channel.drop_sender();
    }
}

impl<T> Drop for SyncSender<T> {
    fn drop(&mut self) {
        self.channel.drop_sender();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}
