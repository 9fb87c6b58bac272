//! The public interface: everything that is stable in std 1.95 and mirrored by racelog, named with
//! its type. Each item is compiled against std and against racelog; there is little to run.

#![allow(clippy::type_complexity, reason = "types are what this is about")]

mod atomics;
mod channels;
mod locks;
mod once;
mod pointers;
mod threads;
mod time;
mod traits;
