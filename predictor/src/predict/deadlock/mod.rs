//! Deadlocks: which circles could be some.
//!
//! The circles of the [graph of requests](crate::lock_graph) are the candidates. Each stands for
//! many goals; these are enumerated on demand, without those that an order of all executions rules
//! out (`instances`).

mod instances;

pub(super) use self::instances::Instances;
