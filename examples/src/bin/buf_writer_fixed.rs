//! As `buf_writer`, with all writers under the lock.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::buf_writer::FIXED)
}
