//! The analyser of racelog, the race predictor for Rust: a library first, a command line second.

#![forbid(unsafe_code)]

pub mod cli;
pub mod explore;
pub mod race;
pub mod semantics;
pub mod trace;
pub mod witness;
