//! As `connection_pool`, with the search under the lock.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::larger::connection_pool::FIXED)
}
