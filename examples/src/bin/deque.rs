//! A work-stealing deque, the wrong way.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::shapes::deque::PROGRAM)
}
