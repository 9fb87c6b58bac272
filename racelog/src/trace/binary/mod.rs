//! The binary trace format (`.rlog`), drawn byte by byte in `docs/TRACE_FORMAT.md`.
//!
//! A file is a header and a row of chunks, each with its length, event count and checksum. An
//! events chunk holds consecutive events of one thread; a tables chunk holds dictionary entries
//! and initial values that the chunks after it may refer to. Every chunk starts its deltas anew,
//! so a file that is damaged at any byte still yields all chunks before that byte.
//!
//! [`Writer`] takes events in any order that is right within each thread. [`Reader`] merges the
//! threads' events by (stamp, thread) and holds no more than one chunk a running thread.

pub(crate) mod chunk;
pub(crate) mod code;
pub(crate) mod event;
pub(crate) mod header;
mod index;
pub(crate) mod kept;
mod merge;
pub(crate) mod primitive;
mod reader;
pub(crate) mod said;
pub(crate) mod state;
pub(crate) mod tables;
mod unwritten;
mod writer;

pub use index::{Damage, DamageKind};
pub use reader::{OpenError, ReadError, Reader};
pub use writer::{WriteError, Writer};

/// The version that this build writes. It reads all up to this.
pub const VERSION: u16 = 6;

/// The first version that says how long threads would have waited.
const PATIENCE_SINCE: u16 = 4;
