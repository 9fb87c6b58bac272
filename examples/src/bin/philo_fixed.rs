//! As `philo`, but all are woken.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::larger::philo::FIXED)
}
