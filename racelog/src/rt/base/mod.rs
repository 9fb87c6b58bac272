//! The tools of all layers of the recorder: locks, numbers, call sites, settings, and the interface
//! to a scheduler.

pub(in crate::rt) mod action;
pub(in crate::rt) mod biased;
pub(in crate::rt) mod call_site;
pub(in crate::rt) mod config;
pub(in crate::rt) mod control;
pub(in crate::rt) mod exit;
pub(in crate::rt) mod fence;
pub(in crate::rt) mod ids;
pub(in crate::rt) mod message;
pub(in crate::rt) mod spin;
