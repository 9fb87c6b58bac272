//! Puts `#[racelog::instrument]` on every function of other people's crates, and says whether they
//! compile and pass their suites as they do without it:
//! `cargo run --release -p racelog-tests --bin bodies_of_crates -- [CRATE…]`
//!
//! It builds in `target/registry`; what the suites said is there, in `NAME-VERSION/*.txt`.

use std::error::Error;
use std::process::ExitCode;

use racelog_tests::expected::repository;
use racelog_tests::registry::bodies::{BODIES, Tried, try_crate};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    let folder = repository().join("target/registry");
    let (mut tried, mut green) = (0, 0);
    println!("{}", Tried::HEADING);
    for body in BODIES.iter().filter(|body| is_wanted(body.published.0)) {
        let outcome = try_crate(body, &folder)?;
        println!("{}", outcome.row(body));
        tried += 1;
        green += usize::from(outcome.is_green());
    }
    println!("\n{green} of {tried} are green");
    Ok(if green == tried { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
