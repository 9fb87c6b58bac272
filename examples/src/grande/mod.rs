//! The kernels of the Java Grande benchmarks: numbers, phases and barriers.

pub mod barrier_bench;
pub mod moldyn;
pub mod montecarlo;
pub mod raytracer;
pub mod sor;
pub mod sync_bench;

mod tournament;

use crate::Program;

/// The programs of this group.
pub const PROGRAMS: &[&Program] = &[
    &barrier_bench::PROGRAM,
    &barrier_bench::ONCE,
    &moldyn::PROGRAM,
    &moldyn::TOURNAMENT,
    &moldyn::RELAXED,
    &montecarlo::PROGRAM,
    &montecarlo::FIXED,
    &raytracer::PROGRAM,
    &raytracer::FIXED,
    &sor::PROGRAM,
    &sor::COUNTERS,
    &sync_bench::PROGRAM,
];
