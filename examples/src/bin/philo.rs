//! Philosophers wake one who waits, perhaps the wrong one: race-free, but may stall.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::larger::philo::PROGRAM)
}
