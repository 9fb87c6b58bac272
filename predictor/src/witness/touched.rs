//! What events may have in common.

use racelog::trace::Object;

use crate::trace::{EventId, Op, Trace};

/// The objects that an event touches, its thread among them; `true` for those that it only looks at. In
/// mixed memory all accesses keep their order, so there is no only looking.
pub(super) fn touched(
    trace: &Trace,
    event: EventId,
) -> impl Iterator<Item = (Object, bool)> + use<> {
    let op = trace.op(event);
    let var = op.var().map(|var| (Object::Var(var), !op.writes() && !trace.is_mixed(var)));
    let lock = op.lock().map(|lock| (Object::Lock(lock), false));
    let other = match op {
        Op::Fork(other) | Op::Join(other) | Op::Unpark(other) => Some(Object::Thread(other)),
        Op::Wait { condvar, .. }
        | Op::Wake { condvar, .. }
        | Op::WakeTimeout { condvar, .. }
        | Op::NotifyOne { condvar, .. }
        | Op::NotifyAll(condvar) => Some(Object::Condvar(condvar)),
        Op::Send { channel, .. }
        | Op::Recv { channel, .. }
        | Op::RecvEmpty(channel)
        | Op::RecvClosed(channel)
        | Op::Close(channel) => Some(Object::Channel(channel)),
        Op::Arrive { barrier, .. } | Op::Leave { barrier, .. } => Some(Object::Barrier(barrier)),
        _ => None,
    };
    let thread = Some((Object::Thread(trace.thread(event)), false));
    [thread, var, lock, other.map(|other| (other, false))].into_iter().flatten()
}
