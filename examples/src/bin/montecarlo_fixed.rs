//! As `montecarlo`, with a `OnceLock`.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::grande::montecarlo::FIXED)
}
