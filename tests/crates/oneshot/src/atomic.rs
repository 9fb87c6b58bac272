#[cfg(not(oneshot_loom))]
pub use racelog::sync::atomic::{AtomicU8, Ordering, fence};
#[cfg(oneshot_loom)]
pub use loom::sync::atomic::{AtomicU8, Ordering, fence};
