//! As `raytracer`, with one lock for all.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::grande::raytracer::FIXED)
}
