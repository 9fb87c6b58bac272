//! As `hedc`, with the lock held to forget the thread, and an atomic flag.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::larger::hedc::FIXED)
}
