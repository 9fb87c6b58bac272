//! A ring buffer for one producer and one consumer, the right way.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::shapes::ring::FIXED)
}
