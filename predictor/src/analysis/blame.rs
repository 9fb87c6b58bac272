//! Which notification was lost.
//!
//! A thread that waits on a condvar for ever may do so because nobody notifies it, or because the
//! notification that it waits for is over: it came before the wait, or went to another waiter. A
//! thread that parks for ever may have been unparked twice, and the two were one. The witness shows
//! which.

use racelog::trace::Object;

use crate::finding::Role;
use crate::semantics::{Machine, Replay};
use crate::trace::{EventId, Op};
use crate::witness::Witness;

/// A notification that a thread missed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Lost {
    pub(super) event: EventId,
    /// How it was missed.
    pub(super) role: Role,
    /// What it notified.
    pub(super) on: Object,
}

/// The last notification that each of these threads missed, where they stand before these events at
/// the end of a witness. Each notification is there once, in the order of the trace.
pub(super) fn lost_notifications(
    machine: &Machine<'_>,
    witness: &Witness,
    roots: &[EventId],
) -> Vec<Lost> {
    let prefix: Vec<EventId> = witness.prefix().collect();
    let mut replay = Replay::of(machine, &prefix);
    let mut lost: Vec<Option<Lost>> = vec![None; roots.len()];
    for event in &prefix {
        for (root, lost) in roots.iter().zip(&mut lost) {
            if let Some((role, on)) = missed(&replay, machine, *event, *root) {
                *lost = Some(Lost { event: *event, role, on });
            }
        }
        // The checker has followed the same events.
        if replay.step(*event).is_err() {
            return Vec::new();
        }
    }
    let mut lost: Vec<Lost> = lost.into_iter().flatten().collect();
    lost.sort_by_key(|lost| lost.event);
    lost.dedup_by_key(|lost| lost.event);
    lost
}

/// How the thread that comes to stand before `root` misses the next event, if that is a
/// notification of what it comes to wait for.
fn missed(
    replay: &Replay<'_, '_>,
    machine: &Machine<'_>,
    event: EventId,
    root: EventId,
) -> Option<(Role, Object)> {
    let (trace, state) = (machine.trace(), replay.state());
    let thread = trace.thread(root);
    let waits_already = state.position(thread) == trace.position(root);
    match (trace.op(root), trace.op(event)) {
        (Op::Wake { condvar: awaited, .. }, Op::NotifyOne { condvar, .. })
            if condvar == awaited && replay.woken(event) != Some(thread) =>
        {
            let role = if waits_already { Role::Elsewhere } else { Role::TooEarly };
            Some((role, Object::Condvar(condvar)))
        }
        (Op::Wake { condvar: awaited, .. }, Op::NotifyAll(condvar)) if condvar == awaited => {
            // Who waits now is notified, and does not miss it.
            let waits = state.waiters(condvar).any(|waiter| waiter == thread);
            (!waits).then_some((Role::TooEarly, Object::Condvar(condvar)))
        }
        (Op::Park, Op::Unpark(unparked)) if unparked == thread && state.has_token(thread) => {
            Some((Role::Merged, Object::Thread(thread)))
        }
        _ => None,
    }
}
