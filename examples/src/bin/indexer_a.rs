//! Threads put messages into a hash table, and some get lost.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::fusion::indexer::WRONG)
}
