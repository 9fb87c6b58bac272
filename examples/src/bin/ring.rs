//! A ring buffer for one producer and one consumer, the wrong way.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::shapes::ring::PROGRAM)
}
