//! The examples of symbolic prediction, by number of threads.

use crate::Program;

/// The programs of this group.
pub const PROGRAMS: &[&Program] = &[];
