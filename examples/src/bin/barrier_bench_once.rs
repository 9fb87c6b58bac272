//! As `barrier_bench`, without the second barrier of each round.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::grande::barrier_bench::ONCE)
}
