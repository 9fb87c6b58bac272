//! The analyser of racelog, the race predictor for Rust: a library first, a command line second.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod child;
pub mod cli;
pub mod detect;
pub mod directed;
pub mod encode;
pub mod explore;
pub mod finding;
pub mod fuzz;
pub mod generate;
pub mod goal;
pub mod index;
mod lock_graph;
pub mod order;
pub mod predict;
pub mod project;
pub mod render;
pub mod replay;
pub mod report;
pub mod semantics;
pub mod solve;
pub mod suspects;
pub mod trace;
pub mod unrecorded;
pub mod witness;

/// The examples in the user guide run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/USER_GUIDE.md")]
struct UserGuide;
