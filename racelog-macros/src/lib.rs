//! Home of racelog's attribute macros.
//!
//! It exports nothing yet: the attributes belong to the recorder, which stands on the trace
//! contract in `racelog::trace` and is not part of this version.
