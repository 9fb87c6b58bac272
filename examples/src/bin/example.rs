//! Runs one of the classic programs, which is named on the command line.

fn main() -> std::process::ExitCode {
    racelog_examples::main()
}
