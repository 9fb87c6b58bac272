//! Events: what a thread did, and where.

use super::{
    BarrierId, ChannelId, CondvarId, LocId, LockId, Said, Stamp, StrId, ThreadId, Value, VarId,
};

/// One step of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Who.
    pub thread: ThreadId,
    /// When, in logical time.
    pub stamp: Stamp,
    /// What.
    pub op: Op,
    /// Where in the program, if that is known.
    pub location: Option<LocId>,
    /// Whether the thread was in code that records all its branches. A read elsewhere counts as
    /// followed by a branch.
    pub recorded: bool,
    /// How long the thread would have waited to do it.
    pub patience: Patience,
}

/// How long a thread waits for an operation that cannot be done at once. Only operations that
/// [may wait](Op::has_patience) have any but the default.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Patience {
    /// Until it can be done.
    #[default]
    Forever,
    /// Not at all: it tries, and goes on otherwise.
    Try,
    /// For a time.
    Timed,
}

/// What a trace is a list of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// The initial value of a variable; 0 where a trace does not say.
    Init {
        /// The variable.
        var: VarId,
        /// Its value before the first event.
        value: Value,
    },
    /// An event.
    Event(Event),
    /// What a thread is about to do and cannot do at once. If the thread has a later event, that is
    /// how it went on; if not, it waits until the end of the trace. It is no event: it changes
    /// nothing, and is not counted.
    Request(Event),
    /// What is said of the next event of a thread, which is the next item but for more of these.
    Said {
        /// The thread.
        thread: ThreadId,
        /// What is said.
        said: Said,
    },
}

/// Memory orderings of atomic operations, as in [`std::sync::atomic::Ordering`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MemoryOrdering {
    /// No ordering.
    Relaxed,
    /// What follows stays after.
    Acquire,
    /// What precedes stays before.
    Release,
    /// Both.
    AcqRel,
    /// Both, and one total order over all such operations.
    SeqCst,
}

/// Whom a `notify_one` woke in the observed run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Woken {
    /// The trace does not say.
    Unknown,
    /// Nobody: no thread was waiting.
    Nobody,
    /// This thread.
    Thread(ThreadId),
}

/// An operation. `V` is how it refers to values: in a trace file [`Value`]; analyses may use ids
/// of their own.
///
/// An atomic operation whose `ordering` is `None` did not state one; sequential consistency is
/// meant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the operands are documented with their operation")]
pub enum Op<V = Value> {
    /// The first event of the thread.
    Begin,
    /// The last event of the thread.
    End,
    /// Starts a thread.
    Fork(ThreadId),
    /// Waits for the end of a thread.
    Join(ThreadId),
    /// Plain read of `var` that returned `value`.
    Read { var: VarId, value: V },
    /// Plain write of `value` to `var`.
    Write { var: VarId, value: V },
    /// Atomic load of `var` that returned `value`.
    Load { var: VarId, value: V, ordering: Option<MemoryOrdering> },
    /// Atomic store of `value` to `var`.
    Store { var: VarId, value: V, ordering: Option<MemoryOrdering> },
    /// Unconditional read-modify-write, which found `old` and left `new`.
    Rmw { var: VarId, old: V, new: V, ordering: Option<MemoryOrdering> },
    /// Successful compare-exchange, from `old` to `new`.
    Cas { var: VarId, old: V, new: V, ordering: Option<MemoryOrdering> },
    /// Failed compare-exchange, which found `seen`.
    CasFail { var: VarId, seen: V, ordering: Option<MemoryOrdering> },
    /// Creation, `&mut` access or drop of `var`, which holds `value` afterwards: nobody else can
    /// reach it at that moment.
    Exclusive { var: VarId, value: V },
    /// Atomic fence.
    Fence(Option<MemoryOrdering>),
    /// The thread's control flow depends on what it has read so far.
    Branch,
    /// Takes the lock exclusively.
    Acquire(LockId),
    /// Gives the exclusive lock back.
    Release(LockId),
    /// Takes the lock shared.
    ReadAcquire(LockId),
    /// Gives the shared lock back.
    ReadRelease(LockId),
    /// Tried to take the lock exclusively and found it taken.
    AcquireFail(LockId),
    /// Tried to take the lock shared and found it taken.
    ReadAcquireFail(LockId),
    /// Gives `lock` back and starts waiting on `condvar`.
    Wait { condvar: CondvarId, lock: LockId },
    /// The wait ends, notified; `lock` is held again.
    Wake { condvar: CondvarId, lock: LockId },
    /// The wait ends by its timeout or spuriously; `lock` is held again.
    WakeTimeout { condvar: CondvarId, lock: LockId },
    /// Notifies one waiter.
    NotifyOne { condvar: CondvarId, woken: Woken },
    /// Notifies all waiters.
    NotifyAll(CondvarId),
    /// `park` returned and consumed the thread's token.
    Park,
    /// `park` returned without a token.
    ParkTimeout,
    /// Sets the token of a thread.
    Unpark(ThreadId),
    /// Sends `message`, whose name is unique in its channel.
    Send { channel: ChannelId, message: V },
    /// Receives `message`.
    Recv { channel: ChannelId, message: V },
    /// Tried to receive and found nothing.
    RecvEmpty(ChannelId),
    /// The receiver saw the end of the channel.
    RecvClosed(ChannelId),
    /// A sender of the channel is dropped.
    Close(ChannelId),
    /// A receiver of the channel is dropped.
    ReceiverClose(ChannelId),
    /// Tried to send `message` and found all receivers dropped.
    SendClosed { channel: ChannelId, message: V },
    /// Tried to send and found no room, while a receiver was left.
    SendFull(ChannelId),
    /// Starts the initialiser of a once. A once is a lock of its own kind: the thread that runs its
    /// initialiser holds it.
    OnceBegin(LockId),
    /// The initialiser is over.
    OnceEnd(LockId),
    /// Waits until no initialiser of the once runs.
    OnceWait(LockId),
    /// Arrives at the barrier for this generation.
    Arrive { barrier: BarrierId, generation: u64 },
    /// Leaves the barrier, that generation being complete.
    Leave { barrier: BarrierId, generation: u64 },
    /// A checked property, given as text, held here.
    Assert(StrId),
    /// A condition held here; the thread would have panicked otherwise.
    Check {
        /// What is said of it.
        text: Option<StrId>,
        /// Whether the language checks it, as that there is no overflow, and not the program.
        by_language: bool,
    },
    /// From here on, up to the matching end, the program means nobody to come in between.
    AtomicBegin(Option<StrId>),
    /// The end of what was begun last.
    AtomicEnd,
}

impl<V> Op<V> {
    /// The operation's keyword in the text format.
    pub const fn keyword(&self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::End => "end",
            Self::Fork(_) => "fork",
            Self::Join(_) => "join",
            Self::Read { .. } => "read",
            Self::Write { .. } => "write",
            Self::Load { .. } => "load",
            Self::Store { .. } => "store",
            Self::Rmw { .. } => "rmw",
            Self::Cas { .. } => "cas",
            Self::CasFail { .. } => "cas_fail",
            Self::Exclusive { .. } => "exclusive",
            Self::Fence(_) => "fence",
            Self::Branch => "branch",
            Self::Acquire(_) => "acquire",
            Self::Release(_) => "release",
            Self::ReadAcquire(_) => "racquire",
            Self::ReadRelease(_) => "rrelease",
            Self::AcquireFail(_) => "acquire_fail",
            Self::ReadAcquireFail(_) => "racquire_fail",
            Self::Wait { .. } => "wait",
            Self::Wake { .. } => "wake",
            Self::WakeTimeout { .. } => "wake_timeout",
            Self::NotifyOne { .. } => "notify_one",
            Self::NotifyAll(_) => "notify_all",
            Self::Park => "park",
            Self::ParkTimeout => "park_timeout",
            Self::Unpark(_) => "unpark",
            Self::Send { .. } => "send",
            Self::Recv { .. } => "recv",
            Self::RecvEmpty(_) => "recv_empty",
            Self::RecvClosed(_) => "recv_closed",
            Self::Close(_) => "close",
            Self::ReceiverClose(_) => "rclose",
            Self::SendClosed { .. } => "send_closed",
            Self::SendFull(_) => "send_full",
            Self::OnceBegin(_) => "once_begin",
            Self::OnceEnd(_) => "once_end",
            Self::OnceWait(_) => "once_wait",
            Self::Arrive { .. } => "arrive",
            Self::Leave { .. } => "leave",
            Self::Assert(_) => "assert",
            Self::Check { by_language: false, .. } => "check",
            Self::Check { by_language: true, .. } => "check_panic",
            Self::AtomicBegin(_) => "atomic_begin",
            Self::AtomicEnd => "atomic_end",
        }
    }
}
