//! A work-stealing deque, the right way.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::shapes::deque::FIXED)
}
