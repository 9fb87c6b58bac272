//! The interface between the recorder and a scheduler that decides which thread goes next.
//!
//! The recorder works without a scheduler: threads then go as the system lets them. A scheduler
//! implements [`Control`]. The crate's root, which is the only place that knows both, plugs it in
//! as `crate::Controller`. The calls are direct ones, and are inlined as such.

use super::action::Action;
use super::call_site::CallSite;
use crate::Controller;
use crate::trace::Op;

/// What a scheduler answers to the recorder, and is told by it.
pub(crate) trait Control {
    /// Whether the process, or one test of it, runs under control.
    fn controls_process() -> bool;

    /// Whether the process follows a schedule. Its events are then compared with the schedule's.
    fn follows_schedule() -> bool;

    /// Whether the calling thread is under control.
    fn controls_thread() -> bool;

    /// The calling thread is about to access so many bytes of memory, which cannot block. Another
    /// thread may go first. The size is 1 where the address stands for an object.
    fn before_access(action: Action, address: usize, size: usize, here: Option<CallSite>);

    /// The calling thread, which follows a schedule, is about to free so many bytes. If the
    /// schedule says that this races, the other thread may go first. The calling thread may be in
    /// the middle of anything.
    fn before_free(address: usize, size: usize);

    /// An address as traces have it. Under control a seed decides what is in a trace, so the
    /// address is replaced by a number that is the same in every run.
    fn number_of_address(address: usize) -> usize;

    /// The calling thread has recorded an event, while the process follows a schedule.
    fn observe(op: &Op, here: Option<CallSite>);
}

/// See [`Control::controls_process`].
pub(in crate::rt) fn controls_process() -> bool {
    Controller::controls_process()
}

/// See [`Control::follows_schedule`].
pub(in crate::rt) fn follows_schedule() -> bool {
    Controller::follows_schedule()
}

/// See [`Control::controls_thread`].
pub(in crate::rt) fn controls_thread() -> bool {
    Controller::controls_thread()
}

/// See [`Control::before_access`].
#[inline]
pub(in crate::rt) fn before_access(
    action: Action,
    address: usize,
    size: usize,
    here: Option<CallSite>,
) {
    Controller::before_access(action, address, size, here);
}

/// See [`Control::before_free`].
pub(in crate::rt) fn before_free(address: usize, size: usize) {
    Controller::before_free(address, size);
}

/// See [`Control::number_of_address`].
#[inline]
pub(in crate::rt) fn number_of_address(address: usize) -> usize {
    Controller::number_of_address(address)
}

/// See [`Control::observe`].
pub(in crate::rt) fn observe(op: &Op, here: Option<CallSite>) {
    Controller::observe(op, here);
}
