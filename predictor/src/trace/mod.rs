//! Traces: their formats, and the validated, indexed trace that analyses work on.

mod added;
mod columns;
mod data;
mod endings;
mod foreign;
pub mod format;
mod groups;
mod id;
mod load;
mod loaded;
mod low_keys;
mod originals;
mod overlaps;
mod pipeline;
mod scopes;
mod since;
mod translate;
mod validate;
mod values;

pub use data::{Data, Expression};
pub use groups::Groups;
pub use id::EventId;
pub use load::{LoadError, Loader};
pub use loaded::{Op, Printer, Request, Trace};
pub use validate::{Invalid, Rule, validate};
pub use values::{ValueId, Values};
