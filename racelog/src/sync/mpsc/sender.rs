//! The sending halves.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::mpsc::{SendError, TrySendError};

use super::halves::SendingHalf;
use super::patience::Patience;
use crate::rt::CallSite;

/// The sending half of a channel without bound, as [`std::sync::mpsc::Sender`].
pub struct Sender<T>(pub(super) SendingHalf<T>);

/// The sending half of a bounded channel, as [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T>(pub(super) SendingHalf<T>);

macro_rules! both_senders {
    ($($Sender:ident)*) => {$(
        impl<T> UnwindSafe for $Sender<T> {}
        impl<T> RefUnwindSafe for $Sender<T> {}

        impl<T> $Sender<T> {
            #[doc = concat!("As [`std::sync::mpsc::", stringify!($Sender), "::send`].")]
            #[track_caller]
            pub fn send(&self, t: T) -> Result<(), SendError<T>> {
                let sent = self.0.send(t, Patience::Forever, Some(CallSite::caller()));
                sent.map_err(|error| match error {
                    TrySendError::Full(t) | TrySendError::Disconnected(t) => SendError(t),
                })
            }
        }

        impl<T> Clone for $Sender<T> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        impl<T> fmt::Debug for $Sender<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Sender)).finish_non_exhaustive()
            }
        }
    )*};
}

both_senders!(Sender SyncSender);

impl<T> SyncSender<T> {
    /// As [`std::sync::mpsc::SyncSender::try_send`].
    #[track_caller]
    pub fn try_send(&self, t: T) -> Result<(), TrySendError<T>> {
        self.0.try_send(t, Some(CallSite::caller()))
    }
}
