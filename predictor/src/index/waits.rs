//! Which events can keep their threads waiting for ever, and who can end that.
//!
//! It says of an operation what it can wait for, not whether it does: that is a matter of the
//! state.

use racelog::trace::{BarrierId, ChannelId, CondvarId, LockId, Patience, ThreadId};

use super::Index;
use crate::trace::{EventId, Op, Trace};

/// What a thread can wait for at an event, for as long as it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// That others give back a lock, or only who holds it exclusively.
    Lock {
        /// The lock.
        lock: LockId,
        /// Whether those who share it are not waited for.
        only_writer: bool,
    },
    /// That others give back the lock that a wait on a condvar needs back; and, if it lasts, that
    /// it is notified.
    Wake {
        /// The condvar.
        condvar: CondvarId,
        /// The lock.
        lock: LockId,
    },
    /// That a thread comes to its end.
    End(ThreadId),
    /// That its own token is set.
    Token,
    /// That a message comes.
    Message(ChannelId),
    /// That the last sender is dropped, or a message comes.
    LastSender(ChannelId),
    /// That there is room for a message.
    Room(ChannelId),
    /// That all threads of a generation arrive, and whoever else the program waits for.
    Arrivals(BarrierId, u64),
    /// That the threads of a scope have done what they do there: those of a generation.
    EndOfScope(BarrierId, u64),
}

impl Wait {
    /// What the thread of an event can wait for there; none if it does not wait, or not for ever.
    pub fn of(trace: &Trace, event: EventId) -> Option<Self> {
        let for_ever = || trace.patience(event) == Patience::Forever;
        match trace.op(event) {
            Op::Acquire(lock) => for_ever().then_some(Self::Lock { lock, only_writer: false }),
            Op::ReadAcquire(lock) | Op::OnceWait(lock) => {
                for_ever().then_some(Self::Lock { lock, only_writer: true })
            }
            // However a wait ends, it needs its lock back.
            Op::WakeTimeout { lock, .. } => Some(Self::Lock { lock, only_writer: false }),
            Op::Wake { condvar, lock } => match waits_for_ever(trace, event) {
                true => Some(Self::Wake { condvar, lock }),
                false => Some(Self::Lock { lock, only_writer: false }),
            },
            Op::Join(thread) => Some(Self::End(thread)),
            Op::Park => for_ever().then_some(Self::Token),
            Op::Recv { channel, .. } => for_ever().then_some(Self::Message(channel)),
            Op::RecvClosed(channel) => for_ever().then_some(Self::LastSender(channel)),
            Op::Send { channel, .. } => {
                let bounded = trace.capacity(channel).is_some();
                (bounded && for_ever()).then_some(Self::Room(channel))
            }
            Op::Leave { barrier, generation } if trace.ends_scope(event) => {
                Some(Self::EndOfScope(barrier, generation))
            }
            Op::Leave { barrier, generation } => {
                for_ever().then_some(Self::Arrivals(barrier, generation))
            }
            // Who would have to wait to begin an initialisation finds it done afterwards.
            Op::OnceBegin(_) => None,
            Op::Begin
            | Op::End
            | Op::Fork(_)
            | Op::Assert(_)
            | Op::Check { .. }
            | Op::AtomicBegin(_)
            | Op::AtomicEnd
            | Op::Fence(_)
            | Op::Branch
            | Op::Read { .. }
            | Op::Load { .. }
            | Op::Write { .. }
            | Op::Store { .. }
            | Op::Rmw { .. }
            | Op::Cas { .. }
            | Op::CasFail { .. }
            | Op::Exclusive { .. }
            | Op::Release(_)
            | Op::ReadRelease(_)
            | Op::OnceEnd(_)
            | Op::AcquireFail(_)
            | Op::ReadAcquireFail(_)
            | Op::Wait { .. }
            | Op::NotifyOne { .. }
            | Op::NotifyAll(_)
            | Op::Unpark(_)
            | Op::ParkTimeout
            | Op::Close(_)
            | Op::ReceiverClose(_)
            | Op::SendFull(_)
            | Op::SendClosed { .. }
            | Op::RecvEmpty(_)
            | Op::Arrive { .. } => None,
        }
    }

    /// Whether a thread that waits for this at an event may wait for none that is blocked itself:
    /// for anybody; for a thread that holds a lock at its end; or for one that has not been
    /// started.
    pub fn can_be_root(self, trace: &Trace, index: &Index, event: EventId) -> bool {
        match self {
            Self::Wake { .. }
            | Self::Token
            | Self::Message(_)
            | Self::LastSender(_)
            | Self::Room(_)
            | Self::Arrivals(..) => true,
            Self::Lock { lock, only_writer } => index.regions.is_kept(lock, only_writer),
            Self::End(thread) => started_by_another(trace, thread, event),
            Self::EndOfScope(barrier, generation) => {
                let mut arrivals = index.arrivals_of(barrier, generation).iter();
                arrivals.any(|arrival| started_by_another(trace, trace.thread(*arrival), event))
            }
        }
    }
}

/// Whether a thread may not have been started when another waits for it at an event.
fn started_by_another(trace: &Trace, thread: ThreadId, event: EventId) -> bool {
    let fork = trace.fork_of(thread);
    fork.is_some_and(|fork| trace.thread(fork) != trace.thread(event))
}

/// Whether a wake-up is that of a wait without a time limit: what ends a wait has the patience of
/// the wait, which is the event before.
fn waits_for_ever(trace: &Trace, wake: EventId) -> bool {
    let before = trace.position(wake).checked_sub(1);
    let wait = before.map_or(wake, |at| trace.events_of_thread(trace.thread(wake))[at]);
    trace.patience(wait) == Patience::Forever
}
