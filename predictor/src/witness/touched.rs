//! What events may have in common.

use racelog::trace::{Object, Touch};

use crate::trace::{EventId, Trace};

/// The objects that an event touches, its thread among them; `true` for those that it only looks
/// at. In mixed memory all accesses keep their order, so there is no only looking.
pub(super) fn touched(
    trace: &Trace,
    event: EventId,
) -> impl Iterator<Item = (Object, bool)> + use<'_> {
    let only_looks = |touch: &Touch| match touch.object {
        Object::Var(var) => !touch.changes && !trace.is_mixed(var),
        Object::Thread(_)
        | Object::Lock(_)
        | Object::Condvar(_)
        | Object::Channel(_)
        | Object::Barrier(_) => false,
    };
    let thread = (Object::Thread(trace.thread(event)), false);
    let others = trace.op(event).touches();
    std::iter::once(thread).chain(others.map(move |touch| (touch.object, only_looks(&touch))))
}
