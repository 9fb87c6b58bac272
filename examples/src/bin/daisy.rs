//! Blocks have locks of their own, but their bits are in common bytes.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::larger::daisy::PROGRAM)
}
