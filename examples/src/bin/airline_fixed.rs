//! As `airline`, but a sale is one step under a lock.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::airline::FIXED)
}
