//! The two halves of a channel, which the mirrors of all channels wrap.

use std::ops::Deref;
use std::sync::Arc;

use super::channel::Channel;

/// One of the senders of a channel.
pub(crate) struct SendingHalf<T>(Arc<Channel<T>>);

/// One of the receivers of a channel.
pub(crate) struct ReceivingHalf<T>(Arc<Channel<T>>);

/// The first sender and the first receiver of a channel.
pub(crate) fn halves<T>(channel: Channel<T>) -> (SendingHalf<T>, ReceivingHalf<T>) {
    let channel = Arc::new(channel);
    (SendingHalf(channel.clone()), ReceivingHalf(channel))
}

#[cfg(feature = "crossbeam")]
impl<T> ReceivingHalf<T> {
    /// The receiver of a channel whose first sender nobody has.
    pub(crate) fn alone(channel: Channel<T>) -> Self {
        Self(Arc::new(channel))
    }
}

impl<T> Clone for SendingHalf<T> {
    fn clone(&self) -> Self {
        self.add_sender();
        Self(self.0.clone())
    }
}

#[cfg(feature = "crossbeam")]
impl<T> Clone for ReceivingHalf<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.add_receiver(Some(crate::rt::CallSite::caller()));
        Self(self.0.clone())
    }
}

impl<T> Drop for SendingHalf<T> {
    fn drop(&mut self) {
        self.drop_sender();
    }
}

impl<T> Drop for ReceivingHalf<T> {
    fn drop(&mut self) {
        self.drop_receiver();
    }
}

impl<T> Deref for SendingHalf<T> {
    type Target = Channel<T>;

    #[inline]
    fn deref(&self) -> &Channel<T> {
        &self.0
    }
}

impl<T> Deref for ReceivingHalf<T> {
    type Target = Channel<T>;

    #[inline]
    fn deref(&self) -> &Channel<T> {
        &self.0
    }
}

/// The iterators over the messages of a `Receiver`, which is in scope. `$module` has the iterators
/// that they mirror, and the attributes are theirs.
macro_rules! receiver_iterators {
    ($module:literal $(, #[$attribute:meta])?) => {
        #[doc = concat!("Waits for message after message, as [`", $module, "::Iter`].")]
        $(#[$attribute])?
        pub struct Iter<'a, T: 'a> {
            rx: &'a Receiver<T>,
        }

        #[doc = concat!("Takes the messages that are there, as [`", $module, "::TryIter`].")]
        $(#[$attribute])?
        pub struct TryIter<'a, T: 'a> {
            rx: &'a Receiver<T>,
        }

        #[doc = concat!(
            "Waits for message after message and owns the receiver, as [`", $module, "::IntoIter`]."
        )]
        $(#[$attribute])?
        pub struct IntoIter<T> {
            rx: Receiver<T>,
        }

        impl<T> Receiver<T> {
            #[doc = concat!("As [`", $module, "::Receiver::iter`].")]
            pub fn iter(&self) -> Iter<'_, T> {
                Iter { rx: self }
            }

            #[doc = concat!("As [`", $module, "::Receiver::try_iter`].")]
            pub fn try_iter(&self) -> TryIter<'_, T> {
                TryIter { rx: self }
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
    };
}

pub(crate) use receiver_iterators;
