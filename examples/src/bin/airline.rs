//! Sellers count sold tickets without a lock, and see too late that the flight is full.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::airline::PROGRAM)
}
