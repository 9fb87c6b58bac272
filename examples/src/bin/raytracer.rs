//! A sum is guarded by locks that each thread has for itself.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::grande::raytracer::PROGRAM)
}
