//! What the tests, fuzz targets and benches of racelog share.

pub mod fuzz;
pub mod random_trace;
