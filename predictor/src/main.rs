//! The `predictor` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    predictor::cli::main(std::env::args_os())
}
