//! What the tests, fuzz targets and benches of racelog share.

pub mod crates;
pub mod expected;
pub mod fuzz;
pub mod hard;
pub mod printed_formula;
pub mod random_body;
pub mod random_trace;
pub mod random_values;
pub mod registry;
pub mod whole_trace;
