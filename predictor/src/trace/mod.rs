//! Traces: their formats, and the validated, indexed trace that analyses work on.

pub mod format;
