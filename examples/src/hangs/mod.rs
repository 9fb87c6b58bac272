//! Programs that may wait for ever, or send to nobody: each wrong in one version, and right in
//! another. In an ordinary run nothing happens.
//!
//! Threads and work: as it is, for one mistake needs no more.

pub mod abba;
pub mod channels;
pub mod condvars;
pub mod once;
pub mod philosophers;
pub mod rwlocks;
pub mod three_locks;
pub mod wait_for_thread;

use crate::Program;

/// The programs of this group.
pub const PROGRAMS: &[&Program] = &[
    &abba::PLAIN,
    &abba::ORDERED,
    &abba::GATE,
    &abba::JOIN,
    &abba::BRANCH,
    &abba::TRY,
    &abba::DATA,
    &channels::TWO_CHANNELS,
    &channels::TWO_CHANNELS_FIXED,
    &channels::FULL_UNDER_LOCK,
    &channels::FULL_UNDER_LOCK_FIXED,
    &channels::SEND_TO_NOBODY,
    &channels::SEND_TO_NOBODY_FIXED,
    &condvars::NO_CONDITION,
    &condvars::FLAG_WITHOUT_LOCK,
    &condvars::WRONG_WAITER,
    &condvars::CONDITION,
    &once::PROGRAM,
    &once::FIXED,
    &philosophers::PROGRAM,
    &philosophers::FIXED,
    &rwlocks::UPGRADE,
    &rwlocks::UPGRADE_FIXED,
    &rwlocks::READ_TWICE,
    &rwlocks::READ_ONCE,
    &three_locks::PROGRAM,
    &three_locks::FIXED,
    &wait_for_thread::PROGRAM,
    &wait_for_thread::FIXED,
];
