//! What a thread may have to wait for before it can do an operation.
//!
//! It says of an operation what it can wait for, not whether it does: that is a matter of the
//! state, and of the thread's [patience](super::Patience).

use super::{BarrierId, ChannelId, CondvarId, LockId, Op, ThreadId};

/// What a thread may have to wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// That other threads give back a lock.
    Lock {
        /// The lock.
        lock: LockId,
        /// Whether the thread shares it, and so waits for its writer only.
        shared: bool,
    },
    /// That the initialiser ends which holds this lock.
    Initialiser(LockId),
    /// That other threads give back the lock which a wait on a condvar has given back. Whichever
    /// way a wait ends, it takes that lock again.
    LockAgain(LockId),
    /// That a notification of the condvar comes, and then the lock again.
    Notification {
        /// The condvar.
        condvar: CondvarId,
        /// The lock.
        lock: LockId,
    },
    /// That a thread comes to its end.
    End(ThreadId),
    /// That the thread's own token is set.
    Token,
    /// That a message comes.
    Message(ChannelId),
    /// That the last sender is dropped, or a message comes.
    LastSender(ChannelId),
    /// That there is room for a message.
    Room(ChannelId),
    /// That all threads of a generation arrive.
    Arrivals(BarrierId, u64),
    /// That the threads of a scope have done what they do there: those of a generation. An
    /// operation alone does not say so: a trace does, of some operations that wait for arrivals.
    EndOfScope(BarrierId, u64),
}

impl<V> Op<V> {
    /// What a thread may have to wait for before it can do this.
    pub const fn awaited(&self) -> Option<Awaited> {
        Some(match *self {
            Self::Acquire(lock) => Awaited::Lock { lock, shared: false },
            Self::ReadAcquire(lock) => Awaited::Lock { lock, shared: true },
            Self::OnceWait(lock) => Awaited::Initialiser(lock),
            Self::Wake { condvar, lock } => Awaited::Notification { condvar, lock },
            Self::WakeTimeout { lock, .. } => Awaited::LockAgain(lock),
            Self::Join(thread) => Awaited::End(thread),
            Self::Park => Awaited::Token,
            Self::Recv { channel, .. } => Awaited::Message(channel),
            Self::RecvClosed(channel) => Awaited::LastSender(channel),
            Self::Send { channel, .. } => Awaited::Room(channel),
            Self::Leave { barrier, generation } => Awaited::Arrivals(barrier, generation),
            // A thread that would have to wait to begin an initialisation finds it done afterwards.
            Self::OnceBegin(_)
            | Self::Begin
            | Self::End
            | Self::Fork(_)
            | Self::Read { .. }
            | Self::Write { .. }
            | Self::Load { .. }
            | Self::Store { .. }
            | Self::Rmw { .. }
            | Self::Cas { .. }
            | Self::CasFail { .. }
            | Self::Exclusive { .. }
            | Self::Fence(_)
            | Self::Branch
            | Self::Release(_)
            | Self::ReadRelease(_)
            | Self::AcquireFail(_)
            | Self::ReadAcquireFail(_)
            | Self::Wait { .. }
            | Self::NotifyOne { .. }
            | Self::NotifyAll(_)
            | Self::ParkTimeout
            | Self::Unpark(_)
            | Self::RecvEmpty(_)
            | Self::Close(_)
            | Self::ReceiverClose(_)
            | Self::SendClosed { .. }
            | Self::SendFull(_)
            | Self::OnceEnd(_)
            | Self::Arrive { .. }
            | Self::Assert(_)
            | Self::Check { .. }
            | Self::AtomicBegin(_)
            | Self::AtomicEnd => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_takes_its_lock_again_whichever_way_it_ends() {
        let (condvar, lock) = (CondvarId::new(1), LockId::new(2));
        let awaited = |op: Op<char>| op.awaited();
        assert_eq!(awaited(Op::Wait { condvar, lock }), None);
        let notified = Awaited::Notification { condvar, lock };
        assert_eq!(awaited(Op::Wake { condvar, lock }), Some(notified));
        let timed_out = Op::WakeTimeout { condvar, lock };
        assert_eq!(awaited(timed_out), Some(Awaited::LockAgain(lock)));
    }

    #[test]
    fn a_reader_waits_for_the_writer_only() {
        let lock = LockId::new(2);
        for (op, shared) in [(Op::<char>::Acquire(lock), false), (Op::ReadAcquire(lock), true)] {
            assert_eq!(op.awaited(), Some(Awaited::Lock { lock, shared }));
        }
    }
}
