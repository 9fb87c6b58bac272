//! Two threads take turns by a variable that each guards with a lock of its own.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::critical::PROGRAM)
}
