//! Programs in which another thread may come in between two steps that belong together: each wrong
//! in one version, and right in another. Every access is guarded or atomic, so none has a race. In
//! an ordinary run nothing happens, for the threads come in turns; what is wrong shows in a failed
//! check or a panic.
//!
//! Threads and work: as it is, for one mistake needs no more.

pub mod check_then_act;
pub mod counter;
pub mod double_init;
pub mod lost_update;
pub mod stale_index;

use crate::Program;

/// The programs of this group.
pub const PROGRAMS: &[&Program] = &[
    &check_then_act::PROGRAM,
    &check_then_act::FIXED,
    &counter::PROGRAM,
    &counter::FIXED,
    &double_init::PROGRAM,
    &double_init::FIXED,
    &lost_update::PROGRAM,
    &lost_update::FIXED,
    &stale_index::PROGRAM,
    &stale_index::FIXED,
];
