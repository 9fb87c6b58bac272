//! Mirror of [`std::sync::mpsc`].
//!
//! Channels are this module's own: std's cannot be looked into, so the order of what happens to
//! them could not be told. They behave as std's do. Everything that happens to a channel happens
//! under one lock, and is recorded there.
//!
//! Recorded are the messages as they are sent and received, by numbers that count from 0 in each
//! channel; receives that find nothing or the end, sends that find no room or no receiver; and the
//! drops of senders and of the last receiver. The trace says how many messages a bounded channel
//! has room for. What lets a sender of a rendezvous channel go on is a second channel, which
//! carries acknowledgements.
//!
//! Not recorded are:
//! - a message whose sender is not recorded;
//! - anything more of a channel once a thread that is not recorded has received a message whose
//!   sending was recorded;
//! - anything more of a channel of crossbeam's once a receiver is cloned, dropped or waits for a
//!   rendezvous unrecorded, or a sender withdraws from a rendezvous for which others came earlier.

pub(crate) mod channel;
pub(crate) mod halves;
pub(crate) mod patience;
mod receiver;
mod record;
pub(crate) mod selection;
mod sender;

#[cfg(test)]
mod tests;

pub use receiver::{IntoIter, Iter, Receiver, TryIter};
pub use sender::{Sender, SyncSender};
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use channel::Channel;
use halves::halves;

/// A channel without bound, as [`std::sync::mpsc::channel`].
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = halves(Channel::unbounded());
    (Sender(sender), Receiver::new(receiver))
}

/// A channel that holds up to `bound` messages, as [`std::sync::mpsc::sync_channel`]. With a bound
/// of 0 each message goes from hand to hand.
#[must_use]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let (sender, receiver) = halves(Channel::bounded(bound));
    (SyncSender(sender), Receiver::new(receiver))
}
