//! Small things to learn racelog from.
//!
//! - `traces/`: traces in the text format, each with a comment that says what to see in it.
//! - `src/bin/racy_counter.rs`: a program that is recorded, and has a race.
//! - `src/bin/write_trace.rs`: writes a trace with the library, event by event.
