//! Typed ids: a lock can never be taken for a variable.

use std::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The id with this number.
            pub const fn new(number: u32) -> Self {
                Self(number)
            }

            /// The id's number.
            pub const fn get(self) -> u32 {
                self.0
            }

            /// The id's number as an index.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    )*};
}

ids! {
    /// A thread.
    ThreadId
    /// A shared memory cell: the target of reads, writes and atomic operations.
    VarId
    /// A lock, exclusive or shared.
    LockId
    /// A condition variable.
    CondvarId
    /// A message channel.
    ChannelId
    /// A barrier.
    BarrierId
    /// A location of the [`Dictionary`](super::Dictionary).
    LocId
    /// A string of the [`Dictionary`](super::Dictionary).
    StrId
    /// A shape of expressions of the [`Dictionary`](super::Dictionary).
    ShapeId
}

/// A logical time stamp.
///
/// Stamps rise strictly within a thread and along the accesses of each object, so the events of
/// all threads, merged by (stamp, thread), are in an order in which they can have happened.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stamp(u64);

impl Stamp {
    /// The stamp with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The stamp's number.
    pub const fn get(self) -> u64 {
        self.0
    }
}
