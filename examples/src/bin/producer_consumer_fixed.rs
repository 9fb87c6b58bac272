//! As `producer_consumer`, with an atomic flag that is released and acquired.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::producer_consumer::FIXED)
}
