//! The end of the process.

/// Has the function called when the process ends by itself. Miri cannot.
pub(crate) fn at_exit(function: extern "C" fn()) {
    if !cfg!(miri) {
        // SAFETY: the function has the right type and may run at any time.
        unsafe { libc::atexit(function) };
    }
}
