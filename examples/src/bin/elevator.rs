//! Lifts claim floors, each of which has a lock of its own: race-free.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::larger::elevator::PROGRAM)
}
