//! Two values that belong together are guarded one by one: no data race, and yet wrong.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::two_stage::PROGRAM)
}
