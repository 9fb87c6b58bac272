//! Values go round between two barriers: race-free.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::grande::barrier_bench::PROGRAM)
}
