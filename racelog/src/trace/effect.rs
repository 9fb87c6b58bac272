//! What an operation does: which objects it is on, what it finds and leaves, which locks it takes
//! and gives back.
//!
//! This is the one place that says so, for trace files and for loaded traces alike. Every `match`
//! here lists all operations: a new one does not compile before it is said what it does. When it
//! can be done, and what the state is afterwards, is a matter of the analyser's semantics.

use super::{LockId, MemoryOrdering, Object, Op, ThreadId, VarId, Woken};

/// An access of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access<'a, V> {
    /// The variable.
    pub var: VarId,
    /// How it is accessed.
    pub kind: AccessKind,
    /// The value that the access found, if it is one that looks.
    pub found: Option<&'a V>,
    /// The value that the access left, if it is one that writes.
    pub left: Option<&'a V>,
}

/// How a variable is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// As plain memory.
    Plain,
    /// As an atomic, with this ordering if it is known.
    Atomic(Option<MemoryOrdering>),
    /// While no other thread can reach it.
    Exclusive,
}

/// What an operation does with a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockUse {
    /// The lock.
    pub lock: LockId,
    /// Whether the lock is, or was to be, shared with others.
    pub shared: bool,
    /// What is done with it.
    pub effect: LockEffect,
}

/// What becomes of a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockEffect {
    /// The thread holds it from now on.
    Takes,
    /// The thread holds it no longer.
    GivesBack,
    /// Nothing: the thread has found it taken.
    FindsTaken,
    /// Nothing: the thread has waited until no other held it exclusively.
    FindsFree,
}

/// An object that an operation is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touch {
    /// The object.
    pub object: Object,
    /// Whether the operation may change it, so that others who look at it may find it otherwise.
    pub changes: bool,
}

impl<V> Op<V> {
    /// The operation's access of a variable.
    #[inline]
    pub const fn access(&self) -> Option<Access<'_, V>> {
        use AccessKind::{Atomic, Exclusive, Plain};
        let (var, kind, found, left) = match self {
            Self::Read { var, value } => (var, Plain, Some(value), None),
            Self::Write { var, value } => (var, Plain, None, Some(value)),
            Self::Load { var, value, ordering } => (var, Atomic(*ordering), Some(value), None),
            Self::Store { var, value, ordering } => (var, Atomic(*ordering), None, Some(value)),
            Self::Rmw { var, old, new, ordering } | Self::Cas { var, old, new, ordering } => {
                (var, Atomic(*ordering), Some(old), Some(new))
            }
            Self::CasFail { var, seen, ordering } => (var, Atomic(*ordering), Some(seen), None),
            Self::Exclusive { var, value } => (var, Exclusive, None, Some(value)),
            Self::Begin
            | Self::End
            | Self::Fork(_)
            | Self::Join(_)
            | Self::Fence(_)
            | Self::Branch
            | Self::Acquire(_)
            | Self::Release(_)
            | Self::ReadAcquire(_)
            | Self::ReadRelease(_)
            | Self::AcquireFail(_)
            | Self::ReadAcquireFail(_)
            | Self::Wait { .. }
            | Self::Wake { .. }
            | Self::WakeTimeout { .. }
            | Self::NotifyOne { .. }
            | Self::NotifyAll(_)
            | Self::Park
            | Self::ParkTimeout
            | Self::Unpark(_)
            | Self::Send { .. }
            | Self::Recv { .. }
            | Self::RecvEmpty(_)
            | Self::RecvClosed(_)
            | Self::Close(_)
            | Self::ReceiverClose(_)
            | Self::SendClosed { .. }
            | Self::SendFull(_)
            | Self::OnceBegin(_)
            | Self::OnceEnd(_)
            | Self::OnceWait(_)
            | Self::Arrive { .. }
            | Self::Leave { .. }
            | Self::Assert(_)
            | Self::Check { .. }
            | Self::AtomicBegin(_)
            | Self::AtomicEnd => return None,
        };
        Some(Access { var: *var, kind, found, left })
    }

    /// What the operation does with a lock.
    #[inline]
    pub const fn lock_use(&self) -> Option<LockUse> {
        use LockEffect::{FindsFree, FindsTaken, GivesBack, Takes};
        let (lock, shared, effect) = match *self {
            Self::Acquire(lock)
            | Self::OnceBegin(lock)
            | Self::Wake { lock, .. }
            | Self::WakeTimeout { lock, .. } => (lock, false, Takes),
            Self::ReadAcquire(lock) => (lock, true, Takes),
            Self::Release(lock) | Self::OnceEnd(lock) | Self::Wait { lock, .. } => {
                (lock, false, GivesBack)
            }
            Self::OnceWait(lock) => (lock, true, FindsFree),
            Self::ReadRelease(lock) => (lock, true, GivesBack),
            Self::AcquireFail(lock) => (lock, false, FindsTaken),
            Self::ReadAcquireFail(lock) => (lock, true, FindsTaken),
            Self::Begin
            | Self::End
            | Self::Fork(_)
            | Self::Join(_)
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
            | Self::NotifyOne { .. }
            | Self::NotifyAll(_)
            | Self::Park
            | Self::ParkTimeout
            | Self::Unpark(_)
            | Self::Send { .. }
            | Self::Recv { .. }
            | Self::RecvEmpty(_)
            | Self::RecvClosed(_)
            | Self::Close(_)
            | Self::ReceiverClose(_)
            | Self::SendClosed { .. }
            | Self::SendFull(_)
            | Self::Arrive { .. }
            | Self::Leave { .. }
            | Self::Assert(_)
            | Self::Check { .. }
            | Self::AtomicBegin(_)
            | Self::AtomicEnd => return None,
        };
        Some(LockUse { lock, shared, effect })
    }

    /// The object that the operation is on, if that is no variable, and no lock alone. What
    /// operations do with their own thread is not said here.
    #[inline]
    pub const fn counterpart(&self) -> Option<Touch> {
        let (object, changes) = match *self {
            Self::Fork(thread) | Self::Unpark(thread) => (Object::Thread(thread), true),
            Self::Join(thread) => (Object::Thread(thread), false),
            Self::Wait { condvar, .. }
            | Self::Wake { condvar, .. }
            | Self::WakeTimeout { condvar, .. }
            | Self::NotifyOne { condvar, .. }
            | Self::NotifyAll(condvar) => (Object::Condvar(condvar), true),
            Self::Send { channel, .. }
            | Self::Recv { channel, .. }
            | Self::Close(channel)
            | Self::ReceiverClose(channel) => (Object::Channel(channel), true),
            Self::RecvEmpty(channel)
            | Self::RecvClosed(channel)
            | Self::SendClosed { channel, .. }
            | Self::SendFull(channel) => (Object::Channel(channel), false),
            Self::Arrive { barrier, .. } => (Object::Barrier(barrier), true),
            Self::Leave { barrier, .. } => (Object::Barrier(barrier), false),
            Self::Begin
            | Self::End
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
            | Self::Acquire(_)
            | Self::Release(_)
            | Self::ReadAcquire(_)
            | Self::ReadRelease(_)
            | Self::AcquireFail(_)
            | Self::ReadAcquireFail(_)
            | Self::OnceBegin(_)
            | Self::OnceEnd(_)
            | Self::OnceWait(_)
            | Self::Park
            | Self::ParkTimeout
            | Self::Assert(_)
            | Self::Check { .. }
            | Self::AtomicBegin(_)
            | Self::AtomicEnd => return None,
        };
        Some(Touch { object, changes })
    }

    /// All objects that the operation is on: its variable, its counterpart, its lock.
    #[inline]
    pub fn touches(&self) -> impl Iterator<Item = Touch> + use<V> {
        let var = self.access().map(|access| Touch {
            object: Object::Var(access.var),
            changes: access.left.is_some(),
        });
        let lock = self.lock_use().map(|used| Touch {
            object: Object::Lock(used.lock),
            changes: !matches!(used.effect, LockEffect::FindsTaken | LockEffect::FindsFree),
        });
        [var, self.counterpart(), lock].into_iter().flatten()
    }

    /// The object that the operation is called after: the first that it is on. A wait is on its
    /// condvar first, and then on its lock.
    pub fn object(&self) -> Option<Object> {
        self.touches().next().map(|touch| touch.object)
    }

    /// The thread that the operation woke in the observed run, if the trace says so.
    pub const fn woken(&self) -> Option<ThreadId> {
        if let Self::NotifyOne { woken: Woken::Thread(thread), .. } = *self {
            Some(thread)
        } else {
            None
        }
    }

    /// The variable that the operation accesses.
    #[inline]
    pub const fn var(&self) -> Option<VarId> {
        match self.access() {
            Some(access) => Some(access.var),
            None => None,
        }
    }

    /// The lock that the operation takes, gives back or looks at.
    #[inline]
    pub const fn lock(&self) -> Option<LockId> {
        match self.lock_use() {
            Some(used) => Some(used.lock),
            None => None,
        }
    }

    /// The lock that the operation takes.
    #[inline]
    pub const fn taken_lock(&self) -> Option<LockId> {
        match self.lock_use() {
            Some(LockUse { lock, effect: LockEffect::Takes, .. }) => Some(lock),
            Some(_) | None => None,
        }
    }

    /// The lock that the operation gives back.
    #[inline]
    pub const fn released_lock(&self) -> Option<LockId> {
        match self.lock_use() {
            Some(LockUse { lock, effect: LockEffect::GivesBack, .. }) => Some(lock),
            Some(_) | None => None,
        }
    }

    /// The value that the operation found in its variable, if it is one that looks.
    #[inline]
    pub const fn found(&self) -> Option<&V> {
        match self.access() {
            Some(access) => access.found,
            None => None,
        }
    }

    /// The value that the operation left in its variable, if it is one that writes.
    #[inline]
    pub const fn left(&self) -> Option<&V> {
        match self.access() {
            Some(access) => access.left,
            None => None,
        }
    }

    /// Whether the operation tells its thread something of its variable.
    #[inline]
    pub const fn reads(&self) -> bool {
        self.found().is_some()
    }

    /// Whether the operation may change its variable.
    #[inline]
    pub const fn writes(&self) -> bool {
        self.left().is_some()
    }

    /// Whether the operation is an atomic access.
    #[inline]
    pub const fn is_atomic(&self) -> bool {
        matches!(self.access(), Some(Access { kind: AccessKind::Atomic(_), .. }))
    }

    /// Whether the operation is an exclusive access.
    #[inline]
    pub const fn is_exclusive(&self) -> bool {
        matches!(self.access(), Some(Access { kind: AccessKind::Exclusive, .. }))
    }

    /// Whether threads can differ in how long they wait to do this: see
    /// [`Patience`](super::Patience). What ends a wait on a condvar has the patience of the wait.
    #[inline]
    pub const fn has_patience(&self) -> bool {
        matches!(
            self,
            Self::Acquire(_)
                | Self::ReadAcquire(_)
                | Self::Wait { .. }
                | Self::Park
                | Self::Send { .. }
                | Self::Recv { .. }
                | Self::RecvClosed(_)
        )
    }

    /// Whether the operation brings its thread something that may be otherwise in another
    /// execution: a value or a message. If it is, the thread is no longer clean.
    #[inline]
    pub const fn takes_input(&self) -> bool {
        self.reads() || matches!(self, Self::Recv { .. })
    }

    /// Whether the thread decides by what it has read: it does this only if that comes out as it
    /// did.
    #[inline]
    pub const fn decides(&self) -> bool {
        matches!(self, Self::Branch | Self::Check { .. })
    }

    /// Whether what the thread does next may depend on the input that the operation has taken, so
    /// that in code that does not record its branches an implicit one follows. A compare-exchange
    /// is no case of it: other executions can only have it as it was.
    #[inline]
    pub const fn implies_branch(&self) -> bool {
        self.takes_input() && !matches!(self, Self::Cas { .. } | Self::CasFail { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{BarrierId, ChannelId, CondvarId, StrId};

    #[test]
    fn what_accesses_find_and_leave() {
        let var = VarId::new(3);
        let ordering = None;
        let accesses: [(Op<char>, Option<char>, Option<char>); 8] = [
            (Op::Read { var, value: 'a' }, Some('a'), None),
            (Op::Write { var, value: 'a' }, None, Some('a')),
            (Op::Load { var, value: 'a', ordering }, Some('a'), None),
            (Op::Store { var, value: 'a', ordering }, None, Some('a')),
            (Op::Rmw { var, old: 'a', new: 'b', ordering }, Some('a'), Some('b')),
            (Op::Cas { var, old: 'a', new: 'b', ordering }, Some('a'), Some('b')),
            (Op::CasFail { var, seen: 'a', ordering }, Some('a'), None),
            (Op::Exclusive { var, value: 'a' }, None, Some('a')),
        ];
        for (op, found, left) in accesses {
            assert_eq!((op.found().copied(), op.left().copied()), (found, left), "{op:?}");
            assert_eq!((op.reads(), op.writes()), (found.is_some(), left.is_some()), "{op:?}");
            let touches: Vec<Touch> = op.touches().collect();
            let expected = Touch { object: Object::Var(var), changes: left.is_some() };
            assert_eq!((op.var(), &touches[..]), (Some(var), &[expected][..]), "{op:?}");
        }
    }

    #[test]
    fn a_wait_is_on_its_condvar_and_its_lock() {
        let (condvar, lock) = (CondvarId::new(1), LockId::new(2));
        for (op, effect) in [
            (Op::<char>::Wait { condvar, lock }, LockEffect::GivesBack),
            (Op::Wake { condvar, lock }, LockEffect::Takes),
            (Op::WakeTimeout { condvar, lock }, LockEffect::Takes),
        ] {
            assert_eq!(op.lock_use(), Some(LockUse { lock, shared: false, effect }));
            let objects: Vec<Object> = op.touches().map(|touch| touch.object).collect();
            assert_eq!(objects, [Object::Condvar(condvar), Object::Lock(lock)]);
        }
    }

    #[test]
    fn who_only_looks_changes_nothing() {
        let (channel, barrier) = (ChannelId::new(0), BarrierId::new(0));
        let (lock, thread) = (LockId::new(0), ThreadId::new(1));
        for op in [
            Op::<char>::AcquireFail(lock),
            Op::ReadAcquireFail(lock),
            Op::Join(thread),
            Op::RecvEmpty(channel),
            Op::RecvClosed(channel),
            Op::SendClosed { channel, message: 'm' },
            Op::SendFull(channel),
            Op::OnceWait(lock),
            Op::Leave { barrier, generation: 0 },
        ] {
            assert!(op.touches().all(|touch| !touch.changes), "{op:?}");
            assert_eq!(op.touches().count(), 1, "{op:?}");
        }
    }

    #[test]
    fn input_and_implied_branches_differ_by_compare_exchanges_and_by_nothing_else() {
        let (var, ordering) = (VarId::new(0), None);
        let cas = Op::Cas { var, old: 'a', new: 'b', ordering };
        let fail = Op::CasFail { var, seen: 'a', ordering };
        let recv = Op::Recv { channel: ChannelId::new(0), message: 'm' };
        let read = Op::Read { var, value: 'a' };
        for (op, input, branch) in [
            (cas, true, false),
            (fail, true, false),
            (recv, true, true),
            (read, true, true),
            (Op::Branch, false, false),
            (Op::Assert(StrId::new(0)), false, false),
        ] {
            assert_eq!((op.takes_input(), op.implies_branch()), (input, branch), "{op:?}");
        }
    }
}
