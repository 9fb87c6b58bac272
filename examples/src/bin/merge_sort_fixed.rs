//! As `merge_sort`, with an atomic counter that is looked at and changed in one step.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::merge_sort::FIXED)
}
