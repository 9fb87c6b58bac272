//! The recorder.
//!
//! Every thread that is recorded has a [`ThreadLog`]: a piece of a memory-mapped trace file that it
//! alone writes to, and a logical clock. There is no lock and no counter that all threads share on
//! the way of an event. Order comes from the objects: while an operation is exclusive on its
//! object, because it holds the lock, or holds the spin lock that guards a cell's address, or because
//! the cell [belongs](ownership) to its thread, it takes a stamp above the thread's clock and the
//! object's, writes the event, and leaves the stamp as the object's clock. So the recorded order is
//! one in which things happened, and whoever sees the effect of an operation finds its event already
//! in the file: a process that is killed at any instant leaves a trace without gaps.

mod action;
pub(crate) mod borrow;
mod cells;
mod chunks;
mod clocks;
mod config;
mod constants;
mod control;
mod fence;
mod file;
mod foreign;
mod freed;
mod given_back;
mod kept_log;
mod log;
mod lost;
mod mapping;
mod meta;
mod ownership;
mod panics;
mod poison;
pub(crate) mod raw;
mod session;
mod sites;
mod stack;
mod statics;
mod strings;
mod table;
mod words;

pub(crate) use action::Action;
pub(crate) use cells::{Access, CellRecord, access, exclusive, forget};
pub(crate) use control::Control;
pub(crate) use given_back::{Unordered, forget_memory, free_memory, keeps_order, unordered_frees};
pub(crate) use log::{Expected, Here, ThreadLog};
pub(crate) use meta::{
    GuardedMeta, LockMeta, NumberedId, Spin, SpinGuard, counters, wait_a_little,
};
pub(crate) use ownership::{Ownership, Streak};
pub(crate) use session::{
    Child, ChildShared, RecordedTest, abandon_log, about_to_be_controlled, about_to_do, at_exit,
    is_off, silence, with,
};
pub(crate) use sites::Site;
pub(crate) use table::Kind;
pub(crate) use words::{Word, step_of, word_of};
