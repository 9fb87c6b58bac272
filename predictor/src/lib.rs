//! The analyser of racelog, the race predictor for Rust: a library first, a command line second.

#![forbid(unsafe_code)]

pub mod trace;
