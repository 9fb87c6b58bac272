//! Many runs of one body.

pub(super) mod entry;
pub(super) mod explorer;
pub(super) mod running;
