//! Mirror of the parts of the crate `crossbeam` by which threads tell each other things.
//!
//! Without the feature `record` all of it is crossbeam's own. Absent, whether recorded or not, is
//! what could not be recorded: `epoch`, `deque`, `queue`, `sync`, and of channels those that tell
//! the time (`after`, `at`, `tick`).

#[cfg(feature = "record")]
pub mod atomic;
#[cfg(feature = "record")]
mod backoff;
#[cfg(feature = "record")]
pub mod channel;
#[cfg(feature = "record")]
mod consume;
#[cfg(feature = "record")]
mod select;
#[cfg(feature = "record")]
mod select_macro;
#[cfg(feature = "record")]
pub mod thread;

#[cfg(test)]
mod channel_tests;
#[cfg(all(test, feature = "record"))]
mod controlled_tests;
#[cfg(test)]
mod select_tests;
#[cfg(test)]
mod tests;

/// Atomic cells, as in `crossbeam::atomic`.
#[cfg(not(feature = "record"))]
pub mod atomic {
    pub use crossbeam_utils::atomic::{AtomicCell, AtomicConsume};
}

/// Channels, as in `crossbeam::channel`.
#[cfg(not(feature = "record"))]
pub mod channel {
    pub use crossbeam_channel::{
        IntoIter, Iter, ReadyTimeoutError, Receiver, RecvError, RecvTimeoutError, Select,
        SelectTimeoutError, SelectedOperation, SendError, SendTimeoutError, Sender, TryIter,
        TryReadyError, TryRecvError, TrySelectError, TrySendError, bounded, never, select,
        select_biased, unbounded,
    };
}

#[cfg(not(feature = "record"))]
pub use crossbeam_utils::thread;

/// Types that help without being shared, as in `crossbeam::utils`. Under control, a thread that
/// backs off lets another thread move first.
pub mod utils {
    #[cfg(feature = "record")]
    pub use super::backoff::Backoff;
    #[cfg(not(feature = "record"))]
    pub use crossbeam_utils::Backoff;
    pub use crossbeam_utils::CachePadded;
}
