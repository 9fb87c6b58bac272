//! The data structures that concurrent Rust is made of, each in a right and a wrong version side by
//! side. They have unsafe code, as such code has; under `#[racelog::instrument]` its accesses of
//! memory are recorded.

pub mod arc;
pub mod arena;
pub mod channel;
pub mod deque;
pub mod lazy;
pub mod ring;
pub mod seqlock;
pub mod spin;
pub mod stack;

use crate::Program;

/// The programs of this group.
pub const PROGRAMS: &[&Program] = &[
    &spin::PROGRAM,
    &spin::FIXED,
    &lazy::PROGRAM,
    &lazy::FIXED,
    &ring::PROGRAM,
    &ring::FIXED,
    &channel::PROGRAM,
    &channel::FIXED,
    &seqlock::PROGRAM,
    &seqlock::FIXED,
    &arena::PROGRAM,
    &arena::FIXED,
    &arc::PROGRAM,
    &arc::FIXED,
    &stack::PROGRAM,
    &stack::FIXED,
    &deque::PROGRAM,
    &deque::FIXED,
];
