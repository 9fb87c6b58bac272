//! The ground truth in code: what a feasible execution is.
//!
//! From one observed trace we reason about every program that could have produced it. A feasible
//! prefix starts from the initial [`State`] and, step by step, takes the next event of some thread
//! whose step is enabled. [`Machine`] has one rule for each operation: when it is enabled, and what
//! it changes. The validator, the witness checker and the explorer are all built on it. No axiom of
//! an encoder may: they check each other.
//!
//! The model is the maximal causal model with control flow of Huang, Meredith and Roşu (PLDI 2014,
//! section 2), with these deviations: executions may stop anywhere (a prefix that can only go on
//! into a deadlock is a prefix), every event of a prefix has to be enabled, of all threads, and
//! condvars, parking, channels, barriers and atomics are objects of their own.
//!
//! Where the observed matching is kept, and other executions are not considered: a receive gets
//! the message that it got, and a barrier's generation gathers the threads that it gathered. That
//! is sound, and may miss a race.

mod machine;
mod model;
mod observed;
mod replay;
mod state;
mod status;
mod values;
mod why_not;

pub use machine::Machine;
pub use model::Model;
pub use replay::Replay;
pub use state::State;
pub use status::{BlockedBy, Status};
pub use why_not::WhyNot;
