//! Kinds of operations, as mirrors announce them before they do them.

/// The kind of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Action {
    /// The first step of a thread.
    Begin,
    Spawn,
    Join,
    /// Joins a thread of a scope at the scope's end.
    Scope,
    Lock,
    TryLock,
    Unlock,
    ReadLock,
    TryReadLock,
    ReadUnlock,
    /// Gives the lock back and starts to wait on a condvar.
    Wait,
    /// Ends to wait on a condvar and takes the lock again.
    Wake,
    Notify,
    Park,
    Unpark,
    Send,
    Receive,
    /// One side of a channel is cloned or dropped.
    Disconnect,
    Arrive,
    Leave,
    /// Uses what is initialised once.
    Once,
    Read,
    Write,
    /// Gives memory back.
    Free,
    Load,
    Store,
    /// An atomic read-modify-write.
    Modify,
    Fence,
    /// Says that it waits for others by spinning.
    Yield,
    Sleep,
    /// Looks at the state of an object.
    Look,
}

impl Action {
    /// Whether it accesses memory, plainly or atomically.
    pub(crate) fn is_access(self) -> bool {
        self.is_atomic() || matches!(self, Self::Read | Self::Write | Self::Free)
    }

    /// Whether it is an atomic access.
    pub(crate) fn is_atomic(self) -> bool {
        matches!(self, Self::Load | Self::Store | Self::Modify)
    }

    /// Whether it changes nothing.
    pub(crate) fn only_reads(self) -> bool {
        matches!(self, Self::Read | Self::Load)
    }

    /// Whether destructors do this, which must not panic.
    pub(crate) fn is_of_destructors(self) -> bool {
        matches!(
            self,
            Self::Unlock | Self::ReadUnlock | Self::Disconnect | Self::Scope | Self::Free
        )
    }

    /// What a person calls it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Spawn => "spawn",
            Self::Join => "join",
            Self::Scope => "end of scope",
            Self::Lock => "lock",
            Self::TryLock => "try to lock",
            Self::Unlock => "unlock",
            Self::ReadLock => "lock shared",
            Self::TryReadLock => "try to lock shared",
            Self::ReadUnlock => "unlock shared",
            Self::Wait => "wait",
            Self::Wake => "wake",
            Self::Notify => "notify",
            Self::Park => "park",
            Self::Unpark => "unpark",
            Self::Send => "send",
            Self::Receive => "receive",
            Self::Disconnect => "disconnect",
            Self::Arrive => "arrive",
            Self::Leave => "leave",
            Self::Once => "initialise",
            Self::Read => "read",
            Self::Write => "write",
            Self::Free => "free",
            Self::Load => "load",
            Self::Store => "store",
            Self::Modify => "modify",
            Self::Fence => "fence",
            Self::Yield => "yield",
            Self::Sleep => "sleep",
            Self::Look => "look",
        }
    }
}
