//! The trace contract: one crisp definition of what a recorded execution is.
//!
//! A trace is a list of [`Event`]s in one total order. Each event is an [`Op`] of one thread, with
//! the place in the source where it happened and whether the thread was in code that records all
//! of its branches. Names, strings and source locations are kept once, in a [`Dictionary`]; events
//! refer to them by typed ids.
//!
//! [`binary`] is the `.rlog` format that carries all of this; `docs/TRACE_FORMAT.md` draws it byte
//! by byte.
//!
//! Nothing in this module may depend on the rest of the crate: recorders and analysers depend on
//! the contract, never the other way round.

pub mod binary;
mod dictionary;
mod event;
mod id;
mod location;
mod meta;
mod value;
mod word;

pub use dictionary::{Definition, Dictionary, DictionaryError, Object};
pub use event::{Event, Item, MemoryOrdering, Op, Woken};
pub use id::{BarrierId, ChannelId, CondvarId, LocId, LockId, Stamp, StrId, ThreadId, VarId};
pub use location::Location;
pub use meta::{End, Metadata};
pub use value::Value;
pub use word::{is_text, is_word};
