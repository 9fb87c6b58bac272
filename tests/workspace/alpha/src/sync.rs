//! What this crate imports instead of std's.

#![allow(unused_imports)]

#[cfg(racelog)]
pub(crate) use racelog::{cell, sync::*, test, thread};

#[cfg(not(racelog))]
pub(crate) use std::{cell, prelude::v1::test, sync::*, thread};
