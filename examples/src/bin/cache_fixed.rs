//! As `cache`, with atomic settings.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::larger::cache::FIXED)
}
