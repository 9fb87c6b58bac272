//! Threads move money between accounts.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::fusion::banking::PROGRAM)
}
