//! The best tour is written under a lock and read without it: harmless.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::larger::tsp::PROGRAM)
}
