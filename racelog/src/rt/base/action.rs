//! Kinds of operations, as mirrors announce them before they do them.

use crate::contract::waiting::WaitsFor;

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
    /// Becomes the writer of a lock that it holds shared.
    Upgrade,
    /// Becomes a reader of a lock that it holds exclusively.
    Downgrade,
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
    /// Looks at the clock.
    Clock,
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

    /// What a thread waits for before it can do this, if it may have to wait.
    pub(crate) fn waits_for(self) -> Option<WaitsFor> {
        match self.class() {
            Class::Waits(waits_for) => Some(waits_for),
            Class::Goes(_) => None,
        }
    }

    /// What a person calls it.
    pub(crate) fn words(self) -> &'static str {
        match self.class() {
            Class::Waits(waits_for) => waits_for.operation(),
            Class::Goes(words) => words,
        }
    }

    fn class(self) -> Class {
        match self {
            Self::Begin => Class::Goes("begin"),
            Self::Spawn => Class::Goes("spawn"),
            Self::Join => Class::Waits(WaitsFor::End),
            Self::Scope => Class::Waits(WaitsFor::EndOfScope),
            Self::Lock => Class::Waits(WaitsFor::Lock),
            Self::TryLock => Class::Goes("try to lock"),
            Self::Unlock => Class::Goes("unlock"),
            Self::ReadLock => Class::Waits(WaitsFor::SharedLock),
            Self::TryReadLock => Class::Goes("try to lock shared"),
            Self::ReadUnlock => Class::Goes("unlock shared"),
            Self::Upgrade => Class::Waits(WaitsFor::Lock),
            Self::Downgrade => Class::Goes("downgrade"),
            Self::Wait => Class::Goes("wait"),
            Self::Wake => Class::Waits(WaitsFor::Notification),
            Self::Notify => Class::Goes("notify"),
            Self::Park => Class::Waits(WaitsFor::Unpark),
            Self::Unpark => Class::Goes("unpark"),
            Self::Send => Class::Waits(WaitsFor::Place),
            Self::Receive => Class::Waits(WaitsFor::Message),
            Self::Disconnect => Class::Goes("disconnect"),
            Self::Arrive => Class::Goes("arrive"),
            Self::Leave => Class::Waits(WaitsFor::Barrier),
            Self::Once => Class::Waits(WaitsFor::Initialiser),
            Self::Read => Class::Goes("read"),
            Self::Write => Class::Goes("write"),
            Self::Free => Class::Goes("free"),
            Self::Load => Class::Goes("load"),
            Self::Store => Class::Goes("store"),
            Self::Modify => Class::Goes("modify"),
            Self::Fence => Class::Goes("fence"),
            Self::Yield => Class::Goes("yield"),
            Self::Sleep => Class::Goes("sleep"),
            Self::Clock => Class::Goes("look at the clock"),
            Self::Look => Class::Goes("look"),
        }
    }
}

/// Whether a thread may have to wait.
enum Class {
    /// For this.
    Waits(WaitsFor),
    /// It goes on. What a person calls the operation.
    Goes(&'static str),
}
