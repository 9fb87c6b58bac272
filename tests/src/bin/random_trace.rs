//! Prints a random valid trace with all kinds of events:
//! `cargo run -p racelog-tests --bin random_trace -- [SEED] [EVENTS] [THREADS]`

use std::error::Error;
use std::io::{self, Write};

use racelog_tests::random_trace::{Shape, random_trace};

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let seed = numbers.next().transpose()?.unwrap_or(1);
    let events = numbers.next().transpose()?.unwrap_or(100);
    let threads = numbers.next().transpose()?.unwrap_or(4);
    let (events, threads) = (usize::try_from(events)?, usize::try_from(threads)?);
    let shape = Shape { events, threads, vars: 10, objects: 3, ..Shape::default() };
    Ok(io::stdout().write_all(random_trace(seed, &shape).as_bytes())?)
}
