//! As `moldyn_tournament`, with relaxed flags: all that the barrier should order races.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::grande::moldyn::RELAXED)
}
