//! What wakes a thread that waits for a program.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use racelog::interrupt;

/// Something that has happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// The program has ended.
    Ended,
    /// The first interrupt was noted.
    Interrupted,
}

/// Sends an event when a child has ended. The child must not be waited for before that.
#[cfg(unix)]
pub(super) fn at_end(child: u32, sender: Sender<Event>) -> io::Result<()> {
    let name = "racelog-child".to_owned();
    let waiter = thread::Builder::new().name(name).spawn(move || {
        interrupt::wait_for_end(child);
        // Without a receiver there is none who waits.
        let _ = sender.send(Event::Ended);
    });
    waiter.map(drop)
}

/// Keeps the channel open; the process itself is looked at.
#[cfg(not(unix))]
pub(super) fn at_end(_child: u32, sender: Sender<Event>) -> io::Result<()> {
    std::mem::forget(sender);
    Ok(())
}

/// A channel that hears of interrupts, and its number.
struct Listener {
    number: u64,
    sender: Sender<Event>,
}

/// The channels that hear of interrupts.
static LISTENERS: Mutex<Vec<Listener>> = Mutex::new(Vec::new());

/// The number of the next one.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A channel that hears of interrupts as long as this is there.
pub(super) struct Listening(u64);

impl Listening {
    pub(super) fn new(sender: Sender<Event>) -> io::Result<Self> {
        static WATCHER: OnceLock<io::Result<()>> = OnceLock::new();
        let watcher = WATCHER.get_or_init(|| {
            let name = "racelog-interrupts".to_owned();
            thread::Builder::new().name(name).spawn(tell_listeners).map(drop)
        });
        if let Err(error) = watcher {
            return Err(io::Error::new(error.kind(), error.to_string()));
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.push(Listener { number, sender });
        Ok(Self(number))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| listener.number != self.0);
    }
}

/// Tells all listeners of the first interrupt. Those who come later ask whether there was one.
fn tell_listeners() {
    interrupt::wait_until_noted();
    let listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
    for listener in &*listeners {
        let _ = listener.sender.send(Event::Interrupted);
    }
}
