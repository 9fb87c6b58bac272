//! Other people's crates, beside racelog: each is fetched from the registry, its imports are changed
//! by a rule and nothing else, and its own tests are run plain, recorded and instrumented.
//!
//! `cargo run -p racelog-tests --bin crates` does it, crate by crate, and prints tables.
//! [`catalogue`] says which crates, [`imports`] and [`attributes`] what is changed in them,
//! [`trial`] what is measured of one, and [`weaken`] which orderings are made weaker, to see whether
//! that is found.

pub mod attributes;
pub mod catalogue;
pub mod imports;
pub mod table;
pub mod trial;
pub mod weaken;

mod edit;
mod suite;
