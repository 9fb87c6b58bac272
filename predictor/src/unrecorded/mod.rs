//! What programs use that racelog does not record, found in their sources.

mod list;

pub use self::list::{Dependency, HiddenMacro, Unread, Unrecorded, Use, What};
