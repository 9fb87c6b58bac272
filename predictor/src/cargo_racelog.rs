//! The `cargo racelog` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    predictor::cli::cargo::main(std::env::args_os())
}
