//! Threads make files in a toy file system that has too few inodes.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::fusion::fsbench::WRONG)
}
