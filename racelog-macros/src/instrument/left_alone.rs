//! Code that stays as it is: recording is not possible when the compiler evaluates it, and between
//! two polls of a future other code runs.
//!
//! Such code is code that does not record its branches, as all code without the attribute is. So
//! nothing is wrong with leaving it alone, and one note a crate says that it was.

use std::sync::atomic::{AtomicBool, Ordering};

use syn::{Ident, Signature};

/// Whether a function is left as it is. The first time in a crate a note says so.
pub(super) fn is_left_alone(signature: &Signature) -> bool {
    let left_alone = signature.asyncness.is_some() || signature.constness.is_some();
    if left_alone {
        note(&signature.ident);
    }
    left_alone
}

/// Says once a crate what is left as it is; `function` is where the first of it was found.
pub(super) fn note(function: &Ident) {
    static NOTED: AtomicBool = AtomicBool::new(false);
    if !NOTED.swap(true, Ordering::Relaxed) {
        // A warning would be an error in programs that deny them.
        eprintln!(
            "note: `#[racelog::instrument]` leaves `const` and `async` functions, async blocks and \
             async closures as they are: the first is in `{function}`"
        );
    }
}
