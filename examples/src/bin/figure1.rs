//! The example of the PLDI 2014 paper.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::fusion::figure1::PROGRAM)
}
