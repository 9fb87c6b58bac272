//! The cleaner of a cache and its users share two settings without a lock.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::larger::cache::PROGRAM)
}
