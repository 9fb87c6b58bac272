//! The crate that programs link to be recorded by racelog, the race predictor for Rust.
//!
//! Import [`sync`], [`thread`], [`cell`], [`hint`] and [`time`] from here instead of from `std`.
//! With the feature `record` they record what they do, when the environment says `RACELOG=1`;
//! without it they *are* std's, the same types and functions.
//!
//! - feature `record`: the recorder, the mirrors of std, and `sched`, which runs them under
//!   control.
//! - feature `allocator`, on by default: with `record`, [`alloc::Recorded`] is the program's
//!   allocator.
//! - feature `parking_lot`: `parking_lot`, which is to the crate of that name what the others are
//!   to std.
//! - feature `trace`: `trace`, the trace contract: the events, and the binary format that carries
//!   them. Readers, analysers and recorders all stand on this module; it depends on none of them.
//!   [`contract`] has the texts that they and the commands of racelog agree on besides.
//! - feature `lock_api`: `lock_api`, for locks that are built on the crate of that name.
//! - features `once_cell` and `crossbeam`: modules of these names, which are to those crates what
//!   [`sync`] is to `std::sync`.

#[cfg(feature = "trace")]
pub mod trace;

pub mod alloc;
pub mod contract;

// Of the commands alone, which are built with a newer compiler.
#[cfg(feature = "interrupt")]
#[clippy::msrv = "1.95"]
#[doc(hidden)]
pub mod interrupt;

#[cfg(feature = "record")]
mod instrument;
#[cfg(feature = "record")]
mod rt;

pub mod cell;
#[cfg(feature = "record")]
pub mod hint;
#[cfg(all(feature = "record", feature = "parking_lot"))]
pub mod parking_lot;
#[cfg(all(feature = "record", feature = "lock_api"))]
mod raw_locks;
#[cfg(feature = "record")]
pub mod sched;
#[cfg(feature = "record")]
pub mod sync;
#[cfg(feature = "record")]
pub mod thread;
#[cfg(feature = "record")]
pub mod time;

#[cfg(not(feature = "record"))]
pub use std::{hint, sync, thread, time};

#[cfg(feature = "crossbeam")]
pub mod crossbeam;
#[cfg(feature = "lock_api")]
pub mod lock_api;
#[cfg(all(feature = "once_cell", feature = "record"))]
pub mod once_cell;
#[cfg(all(feature = "once_cell", not(feature = "record")))]
pub use ::once_cell;

#[cfg(all(test, feature = "once_cell"))]
#[path = "once_cell/tests.rs"]
mod once_cell_tests;
#[cfg(all(feature = "parking_lot", not(feature = "record")))]
pub use ::parking_lot;

// What it knows of compilers has tests.
#[cfg(test)]
#[allow(dead_code, reason = "it is a program of its own")]
#[path = "../build.rs"]
mod build_script;

#[cfg(all(test, feature = "record"))]
mod child_trace;
#[cfg(all(test, not(feature = "record")))]
#[path = "off/tests.rs"]
mod off_tests;

mod annotations;

// What decides which recorded thread goes next: see `rt::Control`. Only this line knows both.
#[cfg(feature = "record")]
use sched::Controller;

pub use racelog_macros::{instrument, instrument_items, main, test};
#[cfg(not(feature = "record"))]
pub use std::thread_local;

#[cfg(not(feature = "record"))]
pub use annotations::explore;
pub use annotations::{atomic, branch};
#[cfg(feature = "record")]
pub use sched::explore;

#[doc(hidden)]
pub mod __private {
    pub use crate::annotations::{TestReturn, checked, read, write};

    #[cfg(not(feature = "record"))]
    pub use crate::annotations::{TestSession, explore_test};
    #[cfg(feature = "record")]
    pub use crate::instrument::{
        Callee, Followed, For, HOOKS, HasLength, HasNoLength, IsKnown, IsOther, IsOtherGuard,
        IsRecorded, IsShim, IsShimGuard, IsUnknown, Naming, Origin, OtherCallee1, OtherCallee2,
        OtherCallee3, Pointer, PointerFallback, PointerProbe, PointerProbeFallback, Probe, Seen,
        Slot, Slots, box_of, memory_freed, memory_moved, named, owes_branch, ptr_copy, ptr_drop,
        ptr_read, ptr_replace, ptr_swap, ptr_swap_many, ptr_write, ptr_write_bytes, slice_of,
        slice_of_mut, vec_of,
    };
    #[cfg(feature = "record")]
    pub use crate::sched::{TestSession, explore_test};
}
