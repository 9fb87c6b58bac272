//! Events as columns: one array a property, so that an analysis touches only what it needs.

use racelog::trace::{
    BarrierId, ChannelId, CondvarId, LocId, LockId, MemoryOrdering, StrId, ThreadId, VarId, Woken,
};

use super::{EventId, Op, ValueId};

/// The operation, without its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Begin,
    End,
    Fork,
    Join,
    Read,
    Write,
    Load,
    Store,
    Rmw,
    Cas,
    CasFail,
    Exclusive,
    Fence,
    Branch,
    Acquire,
    Release,
    ReadAcquire,
    ReadRelease,
    AcquireFail,
    ReadAcquireFail,
    Wait,
    Wake,
    WakeTimeout,
    NotifyOneUnknown,
    NotifyOneNobody,
    NotifyOneThread,
    NotifyAll,
    Park,
    ParkTimeout,
    Unpark,
    Send,
    Recv,
    RecvEmpty,
    RecvClosed,
    Close,
    Arrive,
    Leave,
    Assert,
}

/// The events of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    pub(super) thread: Vec<ThreadId>,
    pub(super) location: Vec<Option<LocId>>,
    /// Where in its thread the event stands, from 0.
    pub(super) position: Vec<u32>,
    /// Whether an implicit branch stands between the event and the one before it in its thread.
    pub(super) guarded: Vec<bool>,
    pub(super) recorded: Vec<bool>,
    kind: Vec<Kind>,
    ordering: Vec<Option<MemoryOrdering>>,
    /// What the operation is on: a thread, variable, lock, condvar, channel, barrier or text.
    object: Vec<u32>,
    /// A value, or what else the operation needs.
    first: Vec<u32>,
    second: Vec<u32>,
}

impl Columns {
    pub(super) fn len(&self) -> usize {
        self.kind.len()
    }

    pub(super) fn push_op(&mut self, op: Op) {
        let (kind, object, first, second, ordering) = pack(op);
        self.kind.push(kind);
        self.object.push(object);
        self.first.push(first);
        self.second.push(second);
        self.ordering.push(ordering);
    }

    /// Makes an access one of another variable.
    pub(super) fn set_var(&mut self, access: EventId, var: VarId) {
        self.object[access.index()] = var.get();
    }

    pub(super) fn op(&self, event: EventId) -> Op {
        self.unpack(event, self.object[event.index()])
    }

    /// The access as one of another variable.
    pub(super) fn op_on(&self, access: EventId, var: VarId) -> Op {
        self.unpack(access, var.get())
    }

    #[inline]
    fn unpack(&self, event: EventId, object: u32) -> Op {
        let at = event.index();
        let (first, second) = (self.first[at], self.second[at]);
        let ordering = self.ordering[at];
        let (thread, var, lock) = (ThreadId::new(object), VarId::new(object), LockId::new(object));
        let (condvar, channel) = (CondvarId::new(object), ChannelId::new(object));
        let barrier = BarrierId::new(object);
        let (value, new) = (ValueId::unpack(first), ValueId::unpack(second));
        let generation = u64::from(second) << 32 | u64::from(first);
        match self.kind[at] {
            Kind::Begin => Op::Begin,
            Kind::End => Op::End,
            Kind::Fork => Op::Fork(thread),
            Kind::Join => Op::Join(thread),
            Kind::Read => Op::Read { var, value },
            Kind::Write => Op::Write { var, value },
            Kind::Load => Op::Load { var, value, ordering },
            Kind::Store => Op::Store { var, value, ordering },
            Kind::Rmw => Op::Rmw { var, old: value, new, ordering },
            Kind::Cas => Op::Cas { var, old: value, new, ordering },
            Kind::CasFail => Op::CasFail { var, seen: value, ordering },
            Kind::Exclusive => Op::Exclusive { var, value },
            Kind::Fence => Op::Fence(ordering),
            Kind::Branch => Op::Branch,
            Kind::Acquire => Op::Acquire(lock),
            Kind::Release => Op::Release(lock),
            Kind::ReadAcquire => Op::ReadAcquire(lock),
            Kind::ReadRelease => Op::ReadRelease(lock),
            Kind::AcquireFail => Op::AcquireFail(lock),
            Kind::ReadAcquireFail => Op::ReadAcquireFail(lock),
            Kind::Wait => Op::Wait { condvar, lock: LockId::new(first) },
            Kind::Wake => Op::Wake { condvar, lock: LockId::new(first) },
            Kind::WakeTimeout => Op::WakeTimeout { condvar, lock: LockId::new(first) },
            Kind::NotifyOneUnknown => Op::NotifyOne { condvar, woken: Woken::Unknown },
            Kind::NotifyOneNobody => Op::NotifyOne { condvar, woken: Woken::Nobody },
            Kind::NotifyOneThread => {
                Op::NotifyOne { condvar, woken: Woken::Thread(ThreadId::new(first)) }
            }
            Kind::NotifyAll => Op::NotifyAll(condvar),
            Kind::Park => Op::Park,
            Kind::ParkTimeout => Op::ParkTimeout,
            Kind::Unpark => Op::Unpark(thread),
            Kind::Send => Op::Send { channel, message: value },
            Kind::Recv => Op::Recv { channel, message: value },
            Kind::RecvEmpty => Op::RecvEmpty(channel),
            Kind::RecvClosed => Op::RecvClosed(channel),
            Kind::Close => Op::Close(channel),
            Kind::Arrive => Op::Arrive { barrier, generation },
            Kind::Leave => Op::Leave { barrier, generation },
            Kind::Assert => Op::Assert(StrId::new(object)),
        }
    }
}

type Packed = (Kind, u32, u32, u32, Option<MemoryOrdering>);

fn pack(op: Op) -> Packed {
    let plain = |kind, object| (kind, object, 0, 0, None);
    let access =
        |kind, var: VarId, value: ValueId, ordering| (kind, var.get(), value.pack(), 0, ordering);
    let update = |kind, var: VarId, old: ValueId, new: ValueId, ordering| {
        (kind, var.get(), old.pack(), new.pack(), ordering)
    };
    let wait = |kind, condvar: CondvarId, lock: LockId| (kind, condvar.get(), lock.get(), 0, None);
    let barrier = |kind, barrier: BarrierId, generation: u64| {
        (kind, barrier.get(), generation as u32, (generation >> 32) as u32, None)
    };
    match op {
        Op::Begin => plain(Kind::Begin, 0),
        Op::End => plain(Kind::End, 0),
        Op::Fork(thread) => plain(Kind::Fork, thread.get()),
        Op::Join(thread) => plain(Kind::Join, thread.get()),
        Op::Read { var, value } => access(Kind::Read, var, value, None),
        Op::Write { var, value } => access(Kind::Write, var, value, None),
        Op::Load { var, value, ordering } => access(Kind::Load, var, value, ordering),
        Op::Store { var, value, ordering } => access(Kind::Store, var, value, ordering),
        Op::Rmw { var, old, new, ordering } => update(Kind::Rmw, var, old, new, ordering),
        Op::Cas { var, old, new, ordering } => update(Kind::Cas, var, old, new, ordering),
        Op::CasFail { var, seen, ordering } => access(Kind::CasFail, var, seen, ordering),
        Op::Exclusive { var, value } => access(Kind::Exclusive, var, value, None),
        Op::Fence(ordering) => (Kind::Fence, 0, 0, 0, ordering),
        Op::Branch => plain(Kind::Branch, 0),
        Op::Acquire(lock) => plain(Kind::Acquire, lock.get()),
        Op::Release(lock) => plain(Kind::Release, lock.get()),
        Op::ReadAcquire(lock) => plain(Kind::ReadAcquire, lock.get()),
        Op::ReadRelease(lock) => plain(Kind::ReadRelease, lock.get()),
        Op::AcquireFail(lock) => plain(Kind::AcquireFail, lock.get()),
        Op::ReadAcquireFail(lock) => plain(Kind::ReadAcquireFail, lock.get()),
        Op::Wait { condvar, lock } => wait(Kind::Wait, condvar, lock),
        Op::Wake { condvar, lock } => wait(Kind::Wake, condvar, lock),
        Op::WakeTimeout { condvar, lock } => wait(Kind::WakeTimeout, condvar, lock),
        Op::NotifyOne { condvar, woken: Woken::Unknown } => {
            plain(Kind::NotifyOneUnknown, condvar.get())
        }
        Op::NotifyOne { condvar, woken: Woken::Nobody } => {
            plain(Kind::NotifyOneNobody, condvar.get())
        }
        Op::NotifyOne { condvar, woken: Woken::Thread(thread) } => {
            (Kind::NotifyOneThread, condvar.get(), thread.get(), 0, None)
        }
        Op::NotifyAll(condvar) => plain(Kind::NotifyAll, condvar.get()),
        Op::Park => plain(Kind::Park, 0),
        Op::ParkTimeout => plain(Kind::ParkTimeout, 0),
        Op::Unpark(thread) => plain(Kind::Unpark, thread.get()),
        Op::Send { channel, message } => (Kind::Send, channel.get(), message.pack(), 0, None),
        Op::Recv { channel, message } => (Kind::Recv, channel.get(), message.pack(), 0, None),
        Op::RecvEmpty(channel) => plain(Kind::RecvEmpty, channel.get()),
        Op::RecvClosed(channel) => plain(Kind::RecvClosed, channel.get()),
        Op::Close(channel) => plain(Kind::Close, channel.get()),
        Op::Arrive { barrier: b, generation } => barrier(Kind::Arrive, b, generation),
        Op::Leave { barrier: b, generation } => barrier(Kind::Leave, b, generation),
        Op::Assert(text) => plain(Kind::Assert, text.get()),
    }
}
