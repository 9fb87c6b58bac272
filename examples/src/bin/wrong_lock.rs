//! A counter is guarded by one lock here and by another there.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::wrong_lock::PROGRAM)
}
