//! Mirror of [`std::sync::atomic::fence`].

use std::sync::atomic::Ordering;

use super::mark::recorded;
use crate::rt::{CallSite, with};
use crate::sched::{self, Action};
use crate::trace::Op;

/// As [`std::sync::atomic::fence`].
#[track_caller]
#[inline]
pub fn fence(order: Ordering) {
    let here = Some(CallSite::caller());
    // First, for it panics if there is no such fence.
    std::sync::atomic::fence(order);
    sched::point(Action::Fence, 0, here);
    with(|log| log.emit_alone(Op::Fence(recorded(order)), here));
}
