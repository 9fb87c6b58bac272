//! The recorder.
//!
//! Every thread that is recorded has a [`ThreadLog`]: a piece of a memory-mapped trace file that it
//! alone writes to, and a logical clock. There is no lock and no counter that all threads share on
//! the way of an event. Order comes from the objects: while an operation is exclusive on its
//! object, because it holds the lock, or holds the spin lock that guards a cell's address, or
//! because the cell [belongs](objects::ownership) to its thread, it takes a stamp above the
//! thread's clock and the object's, writes the event, and leaves the stamp as the object's clock.
//! So the recorded order is one in which things happened, and a thread that sees the effect of an
//! operation finds its event already in the file: a process that is killed at any instant leaves a
//! trace without gaps.

mod base;
mod log;
mod memory;
mod objects;
mod store;
mod threads;

#[cfg(test)]
mod tests;

pub(crate) use base::action::Action;
pub(crate) use base::biased::{Biased, BiasedGuard};
pub(crate) use base::call_site::CallSite;
pub(crate) use base::control::Control;
pub(crate) use base::exit::at_exit;
pub(crate) use base::ids::{NumberedId, counters};
pub(crate) use base::spin::{Spin, SpinGuard, wait_a_little};
pub(crate) use log::kept::KeptAccess;
pub(crate) use log::saying::Traced;
pub(crate) use log::thread_log::{Expected, HeldUse, ThreadLog};
pub(crate) use memory::allocator::keeps_order;
pub(crate) use memory::cell_record::CellRecord;
pub(crate) use memory::forget::forget_memory;
pub(crate) use memory::freeing::{Unordered, unordered_frees};
pub(crate) use memory::plain_words::{PlainWord, plain_word_of};
pub(crate) use memory::table::Kind;
pub(crate) use memory::word_kinds::{WordKind, kind_of};
pub(crate) use memory::words::{Word, step_of, word_of};
pub(crate) use objects::cells::{Access, access, exclusive, forget};
pub(crate) use objects::free::free_memory;
pub(crate) use objects::guarded::GuardedMeta;
pub(crate) use objects::lock::LockMeta;
pub(crate) use objects::ownership::{Ownership, Streak};
pub(crate) use objects::{borrow, held, raw};
pub(crate) use threads::attach::{about_to_be_controlled, about_to_do, with};
pub(crate) use threads::child::{Child, ChildShared};
pub(crate) use threads::current::{is_off, silence};
pub(crate) use threads::owned::abandon_log;
pub(crate) use threads::test::RecordedTest;
