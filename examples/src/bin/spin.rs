//! A spin lock around a counter, the wrong way.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::shapes::spin::PROGRAM)
}
