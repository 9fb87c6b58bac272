//! Runs workloads, all or those that the arguments name, and prints for each its name, how many
//! nanoseconds an operation took and how many events it is. With `--list` it only prints the names.
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
    for workload in WORKLOADS {
        if list {
            println!("{}", workload.name);
        } else if words.is_empty() || words.iter().any(|word| word == workload.name) {
            let elapsed = (workload.run)(workload.operations);
            let nanoseconds = elapsed.as_nanos() as f64 / workload.operations as f64;
            println!("{} {nanoseconds:.3} {}", workload.name, workload.events);
        }
    }
}
