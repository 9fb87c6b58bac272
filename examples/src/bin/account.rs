//! A transfer changes the other account without its lock.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::account::PROGRAM)
}
