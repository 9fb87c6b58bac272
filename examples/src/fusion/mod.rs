//! The examples of symbolic prediction. Those of the Fusion paper go by the number of threads: it
//! writes `banking-5a` for what is `banking_a --size 5x1` here. Those without an `a` keep their
//! properties, the others do not.

pub mod banking;
pub mod figure1;
pub mod fsbench;
pub mod indexer;

use crate::Program;

/// The programs of this group.
pub const PROGRAMS: &[&Program] = &[
    &figure1::PROGRAM,
    &figure1::SWITCHED,
    &banking::PROGRAM,
    &banking::WRONG,
    &indexer::PROGRAM,
    &indexer::WRONG,
    &fsbench::PROGRAM,
    &fsbench::WRONG,
];
