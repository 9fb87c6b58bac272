//! As `bubble_sort`, with the comparison under the lock as well.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::bubble_sort::FIXED)
}
