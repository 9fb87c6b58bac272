//! As `readers_writers`, with an `RwLock`.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::readers_writers::FIXED)
}
