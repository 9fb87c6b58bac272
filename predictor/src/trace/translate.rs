//! Operations carried over from one numbering of objects and values to another.

use racelog::trace::{BarrierId, ChannelId, CondvarId, LockId, Op, ThreadId, VarId, Woken};

/// Translates the objects and values of operations, one way or the other.
pub(super) trait Translate<From, To> {
    fn thread(&mut self, id: ThreadId) -> ThreadId;
    fn var(&mut self, id: VarId) -> VarId;
    fn lock(&mut self, id: LockId) -> LockId;
    fn condvar(&mut self, id: CondvarId) -> CondvarId;
    fn channel(&mut self, id: ChannelId) -> ChannelId;
    fn barrier(&mut self, id: BarrierId) -> BarrierId;
    /// A value that the operation found in the variable, which is already translated.
    fn found(&mut self, var: VarId, value: From) -> To;
    /// A value that the operation leaves in the variable, which is already translated.
    fn left(&mut self, var: VarId, value: From) -> To;
    fn message(&mut self, message: From) -> To;

    fn op(&mut self, op: Op<From>) -> Op<To> {
        match op {
            Op::Begin => Op::Begin,
            Op::End => Op::End,
            Op::Fork(thread) => Op::Fork(self.thread(thread)),
            Op::Join(thread) => Op::Join(self.thread(thread)),
            Op::Read { var, value } => {
                let var = self.var(var);
                Op::Read { var, value: self.found(var, value) }
            }
            Op::Write { var, value } => {
                let var = self.var(var);
                Op::Write { var, value: self.left(var, value) }
            }
            Op::Load { var, value, ordering } => {
                let var = self.var(var);
                Op::Load { var, value: self.found(var, value), ordering }
            }
            Op::Store { var, value, ordering } => {
                let var = self.var(var);
                Op::Store { var, value: self.left(var, value), ordering }
            }
            Op::Rmw { var, old, new, ordering } => {
                let var = self.var(var);
                let old = self.found(var, old);
                Op::Rmw { var, old, new: self.left(var, new), ordering }
            }
            Op::Cas { var, old, new, ordering } => {
                let var = self.var(var);
                let old = self.found(var, old);
                Op::Cas { var, old, new: self.left(var, new), ordering }
            }
            Op::CasFail { var, seen, ordering } => {
                let var = self.var(var);
                Op::CasFail { var, seen: self.found(var, seen), ordering }
            }
            Op::Exclusive { var, value } => {
                let var = self.var(var);
                Op::Exclusive { var, value: self.left(var, value) }
            }
            Op::Fence(ordering) => Op::Fence(ordering),
            Op::Branch => Op::Branch,
            Op::Acquire(lock) => Op::Acquire(self.lock(lock)),
            Op::Release(lock) => Op::Release(self.lock(lock)),
            Op::ReadAcquire(lock) => Op::ReadAcquire(self.lock(lock)),
            Op::ReadRelease(lock) => Op::ReadRelease(self.lock(lock)),
            Op::AcquireFail(lock) => Op::AcquireFail(self.lock(lock)),
            Op::ReadAcquireFail(lock) => Op::ReadAcquireFail(self.lock(lock)),
            Op::Wait { condvar, lock } => {
                Op::Wait { condvar: self.condvar(condvar), lock: self.lock(lock) }
            }
            Op::Wake { condvar, lock } => {
                Op::Wake { condvar: self.condvar(condvar), lock: self.lock(lock) }
            }
            Op::WakeTimeout { condvar, lock } => {
                Op::WakeTimeout { condvar: self.condvar(condvar), lock: self.lock(lock) }
            }
            Op::NotifyOne { condvar, woken } => {
                let woken = match woken {
                    Woken::Thread(thread) => Woken::Thread(self.thread(thread)),
                    Woken::Unknown | Woken::Nobody => woken,
                };
                Op::NotifyOne { condvar: self.condvar(condvar), woken }
            }
            Op::NotifyAll(condvar) => Op::NotifyAll(self.condvar(condvar)),
            Op::Park => Op::Park,
            Op::ParkTimeout => Op::ParkTimeout,
            Op::Unpark(thread) => Op::Unpark(self.thread(thread)),
            Op::Send { channel, message } => {
                Op::Send { channel: self.channel(channel), message: self.message(message) }
            }
            Op::Recv { channel, message } => {
                Op::Recv { channel: self.channel(channel), message: self.message(message) }
            }
            Op::RecvEmpty(channel) => Op::RecvEmpty(self.channel(channel)),
            Op::RecvClosed(channel) => Op::RecvClosed(self.channel(channel)),
            Op::Close(channel) => Op::Close(self.channel(channel)),
            Op::ReceiverClose(channel) => Op::ReceiverClose(self.channel(channel)),
            Op::SendFull(channel) => Op::SendFull(self.channel(channel)),
            Op::SendClosed { channel, message } => {
                Op::SendClosed { channel: self.channel(channel), message: self.message(message) }
            }
            Op::OnceBegin(lock) => Op::OnceBegin(self.lock(lock)),
            Op::OnceEnd(lock) => Op::OnceEnd(self.lock(lock)),
            Op::OnceWait(lock) => Op::OnceWait(self.lock(lock)),
            Op::Arrive { barrier, generation } => {
                Op::Arrive { barrier: self.barrier(barrier), generation }
            }
            Op::Leave { barrier, generation } => {
                Op::Leave { barrier: self.barrier(barrier), generation }
            }
            Op::Assert(text) => Op::Assert(text),
            Op::Check { text, by_language } => Op::Check { text, by_language },
            Op::AtomicBegin(name) => Op::AtomicBegin(name),
            Op::AtomicEnd => Op::AtomicEnd,
        }
    }
}
