//! The contract between the commands of racelog and the programs that they run, besides the trace.
//!
//! A command starts a program with [variables](environment) of the environment. They name a [seed]
//! or a [schedule] that decides how its threads take turns. The program leaves an [outcome], which
//! says how that went, and a trace, in which some events are [markers](marker). What both sides
//! must agree on is a type of this module, and is written and read here, and nowhere else.
//!
//! Nothing in this module may depend on the rest of the crate: scheduler, recorder and analyser
//! depend on the contract, never the other way round. It needs no
//! feature and no other crate, but for `AccessValues::of`, which speaks of operations of
//! traces, and for the feature `serde`, which is the analyser's.

pub mod environment;
pub mod marker;
pub mod operation;
pub mod outcome;
pub mod place;
pub mod schedule;
pub mod seed;
pub mod waiting;

#[cfg(test)]
mod random;
