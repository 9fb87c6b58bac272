//! As `linked_list`, with the walk under the lock as well.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::linked_list::FIXED)
}
