//! A value is handed over by a flag that is plain memory.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::producer_consumer::PROGRAM)
}
