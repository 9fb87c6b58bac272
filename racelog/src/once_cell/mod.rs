//! Mirror of the crate [`::once_cell`].
//!
//! [`sync`] is recorded. [`unsync`] is the crate's own: its types stay on their thread. So is
//! [`race`], and **it is not recorded**: what threads tell each other by its types is invisible to
//! the trace, so races may be predicted where only they keep the order.

pub mod sync;

pub use ::once_cell::{race, unsync};
