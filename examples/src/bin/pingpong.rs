//! A shared reference is taken away and put back while others look at it.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::pingpong::PROGRAM)
}
