//! Fuzzes the readers for as long as you like:
//! `cargo run --release -p racelog-tests --bin fuzz -- [TARGET] [SEED] [RUNS]`
//!
//! Targets: text, std, binary, schedule, outcome, words. An input that breaks a promise is left in
//! `fuzz-TARGET-SEED-RUN` in the current folder; put it into `tests/corpus/TARGET/` with the fix.

use std::error::Error;
use std::fs;
use std::panic;
use std::path::Path;

use racelog_tests::fuzz::{TARGETS, run};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let only = args.next();
    let seed = args.next().map_or(Ok(1), |word| word.parse())?;
    let runs = args.next().map_or(Ok(1_000_000), |word| word.parse())?;
    for (name, target) in TARGETS {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let corpus = racelog_tests::fuzz::corpus(name)?;
        let mut last = (0, Vec::new());
        let outcome = panic::catch_unwind(panic::AssertUnwindSafe(|| {
            run(target, &corpus, seed, runs, |run, input| last = (run, input.to_vec()));
        }));
        if outcome.is_err() {
            let file = format!("fuzz-{name}-{seed}-{}", last.0);
            fs::write(Path::new(&file), &last.1)?;
            return Err(format!("the input that broke a promise is in {file}").into());
        }
        println!("{name}: {runs} runs from seed {seed}, nothing broken");
    }
    Ok(())
}
