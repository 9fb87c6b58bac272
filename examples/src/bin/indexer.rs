//! Threads put messages into a hash table.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::fusion::indexer::PROGRAM)
}
