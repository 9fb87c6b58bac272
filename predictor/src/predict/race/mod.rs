//! Races: which pairs could be some, and the proofs that are about two accesses.
//!
//! The candidates (`candidates`), and the observed run with a thread held back in which others wait
//! for what they need (`waiting`).

mod candidates;
mod waiting;

pub use self::candidates::Candidates;
pub use self::waiting::Waiting;
