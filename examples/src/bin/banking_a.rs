//! Threads move money between accounts, and some gets lost.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::fusion::banking::WRONG)
}
