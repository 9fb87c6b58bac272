//! What this crate imports instead of std's.

#[cfg(racelog)]
#[allow(unused_imports)]
pub(crate) use racelog::{sync::*, thread};

#[cfg(not(racelog))]
#[allow(unused_imports)]
pub(crate) use std::{sync::*, thread};
