//! A value that is made when it is first asked for, the right way.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::shapes::lazy::FIXED)
}
