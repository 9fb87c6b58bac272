//! Counters under a lock, as fast as can be: race-free.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::grande::sync_bench::PROGRAM)
}
