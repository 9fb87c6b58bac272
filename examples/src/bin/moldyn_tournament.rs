//! As `moldyn`, with a barrier of atomic flags that are released and acquired: race-free.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::grande::moldyn::TOURNAMENT)
}
