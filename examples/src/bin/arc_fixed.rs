//! A hand-written `Arc`, the right way.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::shapes::arc::FIXED)
}
