//! As `bounded_buffer`, with a condition variable for each condition and an atomic flag.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::bounded_buffer::FIXED)
}
