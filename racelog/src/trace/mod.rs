//! The trace contract: one crisp definition of what a recorded execution is.
//!
//! A trace is a list of [`Event`]s in one total order. Each event is an [`Op`] of one thread, with
//! the place in the source where it happened and whether the thread was in code that records all
//! of its branches. Names, strings and source locations are kept once, in a [`Dictionary`]; events
//! refer to them by typed ids.
//!
//! ```
//! use racelog::trace::binary::{Reader, Writer};
//! use racelog::trace::{
//!     Dictionary, End, Event, Item, Metadata, Object, Op, Patience, Stamp, ThreadId, Value, VarId,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut dictionary = Dictionary::new();
//! dictionary.name(Object::Var(VarId::new(0)), "counter")?;
//! let write = Item::Event(Event {
//!     thread: ThreadId::new(0),
//!     stamp: Stamp::new(1),
//!     op: Op::Write { var: VarId::new(0), value: Value::Nat(7) },
//!     location: None,
//!     recorded: true,
//!     patience: Patience::Forever,
//! });
//!
//! let mut writer = Writer::new(Vec::new(), &Metadata::default())?;
//! writer.write(&dictionary, &write)?;
//! let bytes = writer.finish(&dictionary, End::Clean)?;
//!
//! let mut reader = Reader::open(std::io::Cursor::new(bytes))?;
//! assert_eq!(reader.next_item()?, Some(write));
//! assert_eq!(reader.dictionary().get_name(Object::Var(VarId::new(0))), Some("counter"));
//! # Ok(())
//! # }
//! ```
//!
//! [`binary`] is the `.rlog` format that carries all of this; `docs/TRACE_FORMAT.md` draws it byte
//! by byte.
//!
//! Nothing in this module may depend on the rest of the crate: recorders and analysers depend on
//! the contract, never the other way round.

mod awaited;
pub mod binary;
mod dictionary;
mod effect;
mod event;
pub mod expression;
mod id;
mod location;
mod meta;
mod number;
mod value;
mod word;

pub use awaited::Awaited;
pub use dictionary::{Definition, Dictionary, DictionaryError, Memory, Object};
pub use effect::{Access, AccessKind, LockEffect, LockUse, Touch};
pub use event::{Event, Item, MemoryOrdering, Op, Patience, Woken};
pub use expression::{Formula, Said, Shape, Term};
pub use id::{
    BarrierId, ChannelId, CondvarId, LocId, LockId, ShapeId, Stamp, StrId, ThreadId, VarId,
};
pub use location::Location;
pub use meta::{End, Metadata};
pub use number::{IntType, Number};
pub use value::Value;
pub use word::{is_text, is_word};
