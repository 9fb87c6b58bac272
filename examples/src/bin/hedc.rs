//! A task forgets its thread without a lock while it is being cancelled.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::larger::hedc::PROGRAM)
}
