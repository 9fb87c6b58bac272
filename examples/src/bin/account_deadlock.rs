//! A transfer takes the other account's lock while it holds its own: a ring of locks.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::account::DEADLOCK)
}
