//! As `daisy`, with one lock for the whole map.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::larger::daisy::FIXED)
}
