//! Messages to the person who runs the program.

use std::fmt;
use std::io::{self, Write};

/// Writes a line to the standard error output.
pub(in crate::rt) fn say(message: fmt::Arguments<'_>) {
    // If this fails there is no other way to say it.
    let _ = writeln!(io::stderr(), "racelog: {message}");
}
