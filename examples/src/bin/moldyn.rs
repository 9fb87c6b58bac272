//! Forces and moves in phases that a barrier separates: race-free.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::grande::moldyn::PROGRAM)
}
