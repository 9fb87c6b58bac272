//! Races: which pairs could be some, and the proofs that are about two accesses.
//!
//! The candidates (`candidates`), the observed run with a thread held back (`hold_back`), and the
//! same with others that wait for what they need (`waiting`).

mod candidates;
mod hold_back;
mod waiting;

pub use self::candidates::Candidates;
pub use self::hold_back::HoldBack;
pub use self::waiting::Waiting;
