//! Whether others are still loading is looked at without the lock.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::larger::weblech::PROGRAM)
}
