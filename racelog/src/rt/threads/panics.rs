//! Panics of recorded threads.
//!
//! Whether a race does harm is a comparison with the recorded run, so a trace says if a thread
//! panicked there, by [`Marker::Panic`]. One a trace is enough, the first.

use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use super::current::with_known;
use crate::contract::marker::Marker;

/// The longest message that is kept.
const LONGEST: usize = 200;

/// Listens to panics from now on.
pub(in crate::rt) fn listen() {
    static ONCE: Once = Once::new();
    // The hook cannot be changed by who panics.
    if std::thread::panicking() {
        return;
    }
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            note(info);
            before(info);
        }));
    });
}

fn note(info: &PanicHookInfo<'_>) {
    // A thread that is not recorded by now does not become so by its panic.
    with_known(|log| {
        if log.session().is_first_panic() {
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            let payload = info.payload();
            let message = payload.downcast_ref::<&str>().copied();
            let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let message = message.unwrap_or("something that is no text");
            let message: String = message.chars().take(LONGEST).collect();
            let marker = Marker::Panic { place: &place, message: &message };
            log.emit_assert(&marker.text(), None);
        }
    });
}
