//! What a program links to be recorded by racelog, the race predictor for Rust.
//!
//! With no feature this crate is empty and depends on nothing.
//!
//! - feature `trace`: [`trace`], the trace contract: what an event is, and the binary format that
//!   carries it. Readers, analysers and recorders all stand on this module; it depends on none of
//!   them.

#[cfg(feature = "trace")]
pub mod trace;
