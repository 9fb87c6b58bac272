//! What is the same for all is set up by several at once.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::grande::montecarlo::PROGRAM)
}
