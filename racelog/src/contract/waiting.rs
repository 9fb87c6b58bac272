//! What a thread can wait for, as outcomes and people call it.
//!
//! An outcome names the operation that a thread is about to do, and for some that is to wait until
//! another thread has done something. People read the words, in outcomes and findings alike.
//!
//! | operation | in words | for an object `x` |
//! | --- | --- | --- |
//! | `lock` | waits for a lock | waits for `x` |
//! | `lock shared` | waits to share a lock | waits to share `x` |
//! | `wake` | waits to be notified | waits on `x` for a notification |
//! | `join`, `end of scope` | waits for the end of another | waits for the end of `x` |
//! | `park` | waits to be unparked | waits to be unparked |
//! | `send` | waits to send | waits for room in `x` |
//! | `receive` | waits for a message | waits for a message of `x` |
//! | `leave` | waits at a barrier | waits at `x` for other threads |
//! | `initialise` | waits for an initialiser | waits for the initialiser of `x` |

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

    /// What a thread does that waits for it: for this object, as people call it, if it is known.
    #[must_use]
    pub fn words(self, object: Option<&str>) -> String {
        let Some(object) = object else { return self.words_alone().to_owned() };
        match self {
            Self::Lock => format!("waits for {object}"),
            Self::SharedLock => format!("waits to share {object}"),
            Self::Notification => format!("waits on {object} for a notification"),
            Self::End | Self::EndOfScope => format!("waits for the end of {object}"),
            Self::Unpark => self.words_alone().to_owned(),
            Self::Place => format!("waits for room in {object}"),
            Self::Message => format!("waits for a message of {object}"),
            Self::Barrier => format!("waits at {object} for other threads"),
            Self::Initialiser => format!("waits for the initialiser of {object}"),
        }
    }

    const fn words_alone(self) -> &'static str {
        match self {
            Self::Lock => "waits for a lock",
            Self::SharedLock => "waits to share a lock",
            Self::Notification => "waits to be notified",
            Self::End | Self::EndOfScope => "waits for the end of others",
            Self::Unpark => "waits to be unparked",
            Self::Place => "waits to send",
            Self::Message => "waits for a message",
            Self::Barrier => "waits at a barrier",
            Self::Initialiser => "waits for an initialiser",
        }
    }

    /// What a thread does that keeps the one from going on which waits for this.
    #[must_use]
    pub const fn holders_words(self) -> &'static str {
        match self {
            Self::Initialiser => "runs it",
            _ => "holds it",
        }
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

    #[test]
    fn an_object_is_named_if_it_is_known() {
        assert_eq!(WaitsFor::Message.words(Some("`c`")), "waits for a message of `c`");
        assert_eq!(WaitsFor::Message.words(None), "waits for a message");
        assert_eq!(WaitsFor::Unpark.words(Some("`t1`")), "waits to be unparked");
    }
}
