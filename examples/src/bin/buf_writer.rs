//! One of the writers moves the position of a buffer without its lock.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::buf_writer::PROGRAM)
}
