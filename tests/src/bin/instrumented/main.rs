//! Instrumented programs to be recorded: `instrumented NAME`, and as many of them without the
//! attribute: `instrumented plain NAME`. `instrumented list` prints the names.
//!
//! Each runs in one given order. Comments at the ends of lines say which lines the tests speak of.

mod edges;
mod figures;
mod guards;
mod once;
mod ring;
mod spin;
mod statics;
mod turns;

use std::process::ExitCode;

/// A program: its name, instrumented, and plain.
type Program = (&'static str, fn(), fn());

/// Items twice: in the module `plain` as they are, and in `instrumented` with the attribute.
macro_rules! twice {
    ($($items:tt)*) => {
        pub(crate) mod plain {
            #[allow(unused_imports)]
            use super::*;
            $($items)*
        }

        #[racelog::instrument]
        pub(crate) mod instrumented {
            #[allow(unused_imports)]
            use super::*;
            $($items)*
        }
    };
}
pub(crate) use twice;

const PROGRAMS: &[&[Program]] = &[
    figures::PROGRAMS,
    edges::PROGRAMS,
    guards::PROGRAMS,
    once::PROGRAMS,
    ring::PROGRAMS,
    spin::PROGRAMS,
    statics::PROGRAMS,
];

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let is_plain = words.first().is_some_and(|word| word == "plain");
    if is_plain {
        words.remove(0);
    }
    let wanted = words.first().map_or("", String::as_str);
    if wanted == "list" {
        PROGRAMS.iter().copied().flatten().for_each(|(name, ..)| println!("{name}"));
        return ExitCode::SUCCESS;
    }
    match PROGRAMS.iter().copied().flatten().find(|(name, ..)| *name == wanted) {
        Some((_, _, plain)) if is_plain => plain(),
        Some((_, instrumented, _)) => instrumented(),
        None => {
            eprintln!("there is no program `{wanted}`");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
