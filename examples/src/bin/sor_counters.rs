//! As `sor`, but neighbours wait for each other by plain counters.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::grande::sor::COUNTERS)
}
