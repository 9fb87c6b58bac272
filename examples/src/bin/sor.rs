//! A grid is smoothed in half-sweeps that a barrier separates: race-free.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::grande::sor::PROGRAM)
}
