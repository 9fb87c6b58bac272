//! Deadlocks: which circles could be some.
//!
//! What a thread asks for while it holds something is a *request* (`requests`). Requests form a graph:
//! an edge leads to each request whose thread holds what is asked for. Its circles are the candidates
//! (`circles`): lock-order circles, with joins and, where writers that wait keep readers out, with
//! these. Requests that only differ in when they are made are one node, so a circle stands for many
//! goals; these are enumerated on demand, without those that an order of all executions rules out
//! (`instances`).

mod circles;
mod instances;
mod requests;

pub(super) use self::circles::{AbstractCircle, Circles};
pub(super) use self::instances::Instances;
pub(super) use self::requests::{Places, Requests};
