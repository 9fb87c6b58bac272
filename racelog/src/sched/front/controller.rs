//! How the scheduler plugs into the recorder.

use super::attach::is_controlled;
use super::points;
use crate::rt::{Action, CallSite, Control};
use crate::sched::process;
use crate::trace::Op;

/// The scheduler, as the recorder knows it.
pub(crate) enum Controller {}

impl Control for Controller {
    fn controls_process() -> bool {
        process::is_process_controlled()
    }

    fn follows_schedule() -> bool {
        process::is_replay()
    }

    fn controls_thread() -> bool {
        is_controlled()
    }

    #[inline]
    fn before_access(action: Action, address: usize, size: usize, here: Option<CallSite>) {
        points::point_in_memory(action, address, size, here);
    }

    fn before_free(address: usize, size: usize) {
        points::point_of_free(address, size);
    }

    #[inline]
    fn number_of_address(address: usize) -> usize {
        points::number_of_address(address)
    }

    fn observe(op: &Op, here: Option<CallSite>) {
        points::observe(op, here);
    }
}
