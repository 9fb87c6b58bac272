//! As `wrong_lock`, with the same lock everywhere.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::wrong_lock::FIXED)
}
