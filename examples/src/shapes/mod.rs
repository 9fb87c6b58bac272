//! The data structures that concurrent Rust is made of.

use crate::Program;

/// The programs of this group.
pub const PROGRAMS: &[&Program] = &[];
