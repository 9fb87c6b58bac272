//! As `two_stage`, with one lock for both values.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::two_stage::FIXED)
}
