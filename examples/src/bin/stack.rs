//! A lock-free stack of nodes that are used again, the wrong way.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::shapes::stack::PROGRAM)
}
