//! The graph of requests: which thread asks for which lock while it holds which others, and the
//! circles of it.
//!
//! A lock that a thread asks for while it holds another is a *request* (`requests`). Requests form
//! a graph: an edge leads to each request whose thread holds the lock that is asked for. Its
//! circles (`circles`) are lock-order circles, with joins and, where writers that wait keep readers
//! out, with these. Requests that only differ in when they are made are one node, so the graph does
//! not grow with the trace.
//!
//! It is the abstract lock-dependency graph of Tunç, Mathur, Pavlogiannis and Viswanathan (PLDI
//! 2023), with readers, joins and initialisers. Every deadlock of every execution is an instance of
//! one of its circles; which circles are deadlocks is for others to find out.

mod circles;
mod components;
mod requests;

pub(crate) use self::circles::{AbstractCircle, Circles};
pub(crate) use self::components::components;
pub(crate) use self::requests::{Places, Request, Requests};
