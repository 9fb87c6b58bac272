//! Threads make files in a toy file system.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::fusion::fsbench::PROGRAM)
}
