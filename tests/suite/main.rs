//! The end-to-end tests, in one binary.

mod architecture;
mod cases;
mod cli;
mod damage;
mod errors;
mod explorer;
mod fuzz;
mod golden;
mod recorder;
mod round_trip;
mod support;
