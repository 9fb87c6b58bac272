//! Crates of the package registry, as other people publish them, made ready to be built and changed.
//!
//! [`fetch`] has cargo fetch a crate, by name and version, from whatever registry cargo is
//! configured with, and copies its sources into a folder. There it is a [`Package`] of a workspace
//! of its own, with its tests, whose manifest and sources can be changed.

mod attribute;
pub mod bodies;
mod fetch;
mod package;
mod suites;

pub use fetch::fetch;
pub use package::Package;

/// What went wrong, in words.
pub type Error = Box<dyn std::error::Error>;
