//! What a thread can wait for, as outcomes and people call it.
//!
//! An outcome names the operation that a thread is about to do, and for some that is to wait until
//! another thread has done something.
//!
//! | operation | in words |
//! | --- | --- |
//! | `lock` | waits for a lock |
//! | `lock shared` | waits to share a lock |
//! | `wake` | waits to be notified |
//! | `join`, `end of scope` | waits for the end of a thread, or of others |
//! | `park` | is parked |
//! | `send` | waits to send |
//! | `receive` | waits for a message |
//! | `leave` | waits at a barrier |
//! | `initialise` | waits for an initialiser |

use std::fmt;

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitsFor {
    /// A lock, for itself.
    Lock,
    /// A lock that it shares.
    SharedLock,
    /// A notification of a condvar, and the lock again.
    Notification,
    /// The end of a thread.
    End,
    /// The ends of the threads of a scope.
    EndOfScope,
    /// To be unparked.
    Unpark,
    /// A place in a channel.
    Place,
    /// A message.
    Message,
    /// The others at a barrier.
    Barrier,
    /// The end of what initialises an object.
    Initialiser,
}

impl WaitsFor {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Lock,
        Self::SharedLock,
        Self::Notification,
        Self::End,
        Self::EndOfScope,
        Self::Unpark,
        Self::Place,
        Self::Message,
        Self::Barrier,
        Self::Initialiser,
    ];

    /// The operation that waits for it, as in an outcome.
    #[must_use]
    pub const fn operation(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::SharedLock => "lock shared",
            Self::Notification => "wake",
            Self::End => "join",
            Self::EndOfScope => "end of scope",
            Self::Unpark => "park",
            Self::Place => "send",
            Self::Message => "receive",
            Self::Barrier => "leave",
            Self::Initialiser => "initialise",
        }
    }

    /// What an operation of an outcome waits for, if it waits.
    #[must_use]
    pub fn of_operation(operation: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|waits_for| waits_for.operation() == operation)
    }

    /// Whether it is for the end of a thread, which is then named.
    #[must_use]
    pub const fn is_end(self) -> bool {
        matches!(self, Self::End | Self::EndOfScope)
    }
}

/// What a thread does that waits for it. After [`WaitsFor::is_end`] it has to be said of whom.
impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lock => "waits for a lock",
            Self::SharedLock => "waits to share a lock",
            Self::Notification => "waits to be notified",
            Self::End | Self::EndOfScope => "waits for the end of",
            Self::Unpark => "is parked",
            Self::Place => "waits to send",
            Self::Message => "waits for a message",
            Self::Barrier => "waits at a barrier",
            Self::Initialiser => "waits for an initialiser",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_told_from_each_other() {
        for waits_for in WaitsFor::ALL {
            assert_eq!(WaitsFor::of_operation(waits_for.operation()), Some(waits_for));
        }
        assert_eq!(WaitsFor::of_operation("try to lock"), None);
    }
}
