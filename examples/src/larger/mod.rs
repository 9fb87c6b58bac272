//! Larger programs: crawlers, caches, pools, simulations.

pub mod cache;
pub mod connection_pool;
pub mod daisy;
pub mod elevator;
pub mod hedc;
pub mod philo;
pub mod tsp;
pub mod weblech;

use crate::Program;

/// The programs of this group.
pub const PROGRAMS: &[&Program] = &[
    &cache::PROGRAM,
    &cache::FIXED,
    &connection_pool::PROGRAM,
    &connection_pool::FIXED,
    &daisy::PROGRAM,
    &daisy::FIXED,
    &elevator::PROGRAM,
    &hedc::PROGRAM,
    &hedc::FIXED,
    &philo::PROGRAM,
    &philo::FIXED,
    &tsp::PROGRAM,
    &tsp::FIXED,
    &weblech::PROGRAM,
    &weblech::FIXED,
];
