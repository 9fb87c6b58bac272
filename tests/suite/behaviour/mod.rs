//! What programs do with std, done with std and with racelog: the same must come of it, whether it
//! is recorded or not. `recorded.rs` runs all of this again with recording on.

mod atomics;
mod attribute;
mod barrier;
mod channels;
mod condvar;
mod locals;
mod mirrors;
mod mutex;
mod once;
mod parking;
mod rwlock;
mod scope;
mod threads;

use std::any::Any;

/// What a panic said.
fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).expect("it is a text")
}
