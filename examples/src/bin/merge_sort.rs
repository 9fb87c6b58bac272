//! The number of threads to spare is looked at and changed without a lock.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::merge_sort::PROGRAM)
}
