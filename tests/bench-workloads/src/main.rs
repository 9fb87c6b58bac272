//! Runs workloads, all or those that the arguments name, and prints for each its name, how many
//! nanoseconds an operation took and how many events it is. With `--list` it only prints the names.
//! With `--operations=N` each does so many operations instead of its own number.
//!
//! The bench `recorder` builds it natively, recording and under ThreadSanitizer.

/// What the workloads are written against.
mod shim {
    pub(crate) use racelog::{cell, sync, thread};
}

#[path = "../../benches/workloads.rs"]
mod workloads;

use workloads::WORKLOADS;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let list = words.iter().any(|word| word == "--list");
    let number = words.iter().find_map(|word| word.strip_prefix("--operations="));
    let operations: Option<u64> = number.map(|text| text.parse().expect("a number"));
    let all = words.iter().all(|word| word.starts_with("--"));
    for workload in WORKLOADS {
        if list {
            println!("{}", workload.name);
        } else if all || words.iter().any(|word| word == workload.name) {
            let operations = operations.unwrap_or(workload.operations);
            let elapsed = (workload.run)(operations);
            let nanoseconds = elapsed.as_nanos() as f64 / operations as f64;
            println!("{} {nanoseconds:.3} {}", workload.name, workload.events);
        }
    }
}
