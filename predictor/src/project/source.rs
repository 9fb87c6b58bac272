//! The source of the program, as far as it is there.

use std::sync::Arc;

/// Where source files come from. The library looks at no files: its caller does.
pub trait Sources: Sync {
    /// The text of a file, which is called as the compiler was told; `None` if there is none.
    fn read(&self, file: &str) -> Option<Arc<str>>;
}

/// No source at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSources;

impl Sources for NoSources {
    fn read(&self, _: &str) -> Option<Arc<str>> {
        None
    }
}
