//! One condition variable for two conditions: a wake-up gets lost; and a flag without a lock.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::bounded_buffer::PROGRAM)
}
