//! A free connection is looked for without the lock that it is taken under.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::larger::connection_pool::PROGRAM)
}
