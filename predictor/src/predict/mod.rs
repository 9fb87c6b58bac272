//! The predictor: decides whether a pair is a race, by the maximal causal model with control flow.

mod decide;

pub use self::decide::{Decider, Verdict};
