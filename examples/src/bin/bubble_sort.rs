//! Neighbours are compared without the lock that they are exchanged under.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::bubble_sort::PROGRAM)
}
