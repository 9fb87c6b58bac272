//! Spawning of fibers, under control.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Result;

use super::builder::{Control, Start};
use super::parking::Thread;
use crate::rt::CallSite;
use crate::sched;

/// What a fiber leaves behind.
pub(super) struct Packet<T>(Mutex<Option<Result<T>>>);

// SAFETY: a packet is made only for results that can be sent.
unsafe impl<T> Send for Packet<T> {}
// SAFETY: as above; and a shared packet gives the result to one.
unsafe impl<T> Sync for Packet<T> {}

impl<T> Packet<T> {
    /// The result of a fiber that has ended.
    pub(super) fn take(&self) -> Result<T> {
        let result = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        result.expect("a fiber that is joined has left a result")
    }

    pub(super) fn is_there(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// What a new fiber is to those who made it.
pub(super) struct Spawned<T> {
    pub(super) packet: Arc<Packet<T>>,
    pub(super) control: Control,
    pub(super) thread: Thread,
}

/// Spawns a fiber.
///
/// # Safety
///
/// The caller is in a fiber, and the new one must not outlive what the closure borrows.
pub(super) unsafe fn spawn<F, T>(
    name: Option<&str>,
    stack: Option<usize>,
    f: F,
    here: Option<CallSite>,
) -> Spawned<T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    let mut start = Start::new(name, here);
    let (newcomer, control) = start.newcomer();
    let newcomer = newcomer.expect("a fiber is under control");
    let thread = Thread::of_fiber(newcomer.slot(), start.parker(), name);
    let stack = stack.unwrap_or_else(sched::usual_stack);
    let packet = Arc::new(Packet(Mutex::new(None)));
    let main = {
        let packet = packet.clone();
        move || {
            let result = panic::catch_unwind(AssertUnwindSafe(|| {
                sched::wait_for_first_turn();
                sched::run_closure(f)
            }));
            sched::closing();
            *packet.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    };
    // SAFETY: as the caller promises.
    unsafe { sched::spawn_fiber(newcomer, thread.clone(), stack, main) };
    Spawned { packet, control, thread }
}
