//! The end-to-end tests, in one binary.

mod analyze;
mod api;
mod architecture;
mod behaviour;
mod bodies;
mod both;
mod cargo_racelog;
mod cases;
mod cli;
mod controlled;
mod crates;
mod damage;
mod detectors;
mod errors;
mod explorer;
mod fuzz;
mod golden;
mod instrumented;
mod prediction;
mod recorded;
mod recorder;
mod rejected;
mod round_trip;
mod solvers;
mod support;
mod whole_trace;
