//! As `tsp`, with an atomic for the best tour.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::larger::tsp::FIXED)
}
