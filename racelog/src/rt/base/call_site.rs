//! Where in the program an operation was called.

use std::panic::Location as Caller;

/// Where in the program an operation was called; `None` where nobody called it.
pub(crate) type Here = Option<&'static Caller<'static>>;
