//! As `weblech`, with the look under the lock and an atomic flag.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::larger::weblech::FIXED)
}
