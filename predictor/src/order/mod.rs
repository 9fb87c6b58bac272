//! Orders of events: vector clocks, and the edges that synchronisation draws. Cheap and linear.
//!
//! [`Flow`] is the one place that knows which event is ordered before which. It walks a trace once
//! and moves *knowledge* along its edges: between threads, locks, atomics, channels and so on. What
//! knowledge is, is up to the analysis, see [`Knowledge`]: [`Clocks`] of epochs tell which events
//! are ordered, [`direct_edges`] lists the edges themselves, and [`weak_links`] follows one event
//! to see which memory orderings stop it. Which edges count is said by [`Edges`].
//!
//! The edges are those of the observed run: a lock's release comes before the next acquire, and so
//! on. They rest on Lamport's happens-before; the atomics follow the C++20 memory model, which is
//! Rust's, see [`Atomics::Stated`].

mod barrier;
mod clocks;
mod direct;
mod edges;
mod exclusive;
mod flow;
mod memory;
mod wakeups;
mod weak;

pub use clocks::{Clocks, Epoch};
pub use direct::{Edge, direct_edges};
pub use edges::{Atomics, Edges, Wakeups};
pub use flow::{Flow, Knower, Knowledge};
pub use weak::{WeakLink, weak_links};
