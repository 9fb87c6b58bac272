//! An arena, the wrong way.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::shapes::arena::PROGRAM)
}
