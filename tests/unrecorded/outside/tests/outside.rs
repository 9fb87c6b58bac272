//! A test on std's types: it has no race, and the trace does not say why.

#![cfg(racelog)]

use std::sync::Mutex;

use outside::Slot;
use racelog::thread;

#[racelog::test]
fn two_put() {
    let (slot, lock) = (Slot::default(), Mutex::new(()));
    let put = |value| {
        let _guard = lock.lock().unwrap();
        slot.put(value);
    };
    thread::scope(|scope| {
        scope.spawn(|| put(1));
        scope.spawn(|| put(2));
    });
}
