//! A writer makes sure that there are no readers, but does not keep new ones out.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::readers_writers::PROGRAM)
}
