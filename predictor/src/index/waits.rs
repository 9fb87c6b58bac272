//! Which events can keep their threads waiting for ever, and who can end that.
//!
//! They are the events of operations that wait, by threads that do so for as long as it takes.
//! Whether they wait is a matter of the state.

use racelog::trace::{Awaited, ThreadId};

use super::Index;
use crate::trace::{EventId, Trace};

/// What a thread can wait for at an event, for as long as it takes; none if it does not wait, or
/// not for ever.
pub fn endless_wait(trace: &Trace, event: EventId) -> Option<Awaited> {
    let awaited = trace.op(event).awaited()?;
    match awaited {
        // However a wait ends, it needs its lock back.
        Awaited::Notification { lock, .. } if !trace.waits_for_ever(event) => {
            Some(Awaited::LockAgain(lock))
        }
        Awaited::Arrivals(barrier, generation) if trace.ends_scope(event) => {
            Some(Awaited::EndOfScope(barrier, generation))
        }
        Awaited::LockAgain(_) | Awaited::End(_) | Awaited::EndOfScope(..) => Some(awaited),
        Awaited::Room(channel) if trace.capacity(channel).is_none() => None,
        Awaited::Lock { .. }
        | Awaited::Initialiser(_)
        | Awaited::Notification { .. }
        | Awaited::Token
        | Awaited::Message(_)
        | Awaited::LastSender(_)
        | Awaited::Room(_)
        | Awaited::Arrivals(..) => trace.waits_for_ever(event).then_some(awaited),
    }
}

/// Whether a thread that waits for this at an event may wait for none that is blocked itself: for
/// any thread at all; for one that holds a lock at its end; or for one that has not been started.
pub fn can_be_root(trace: &Trace, index: &Index, event: EventId, awaited: Awaited) -> bool {
    match awaited {
        Awaited::Notification { .. }
        | Awaited::Token
        | Awaited::Message(_)
        | Awaited::LastSender(_)
        | Awaited::Room(_)
        | Awaited::Arrivals(..) => true,
        Awaited::Lock { lock, shared } => index.regions.is_kept(lock, shared),
        Awaited::Initialiser(lock) => index.regions.is_kept(lock, true),
        Awaited::LockAgain(lock) => index.regions.is_kept(lock, false),
        Awaited::End(thread) => started_by_another(trace, thread, event),
        Awaited::EndOfScope(barrier, generation) => {
            let mut arrivals = index.arrivals_of(barrier, generation).iter();
            arrivals.any(|arrival| started_by_another(trace, trace.thread(*arrival), event))
        }
    }
}

/// Whether a thread may not have been started when another waits for it at an event.
fn started_by_another(trace: &Trace, thread: ThreadId, event: EventId) -> bool {
    let fork = trace.fork_of(thread);
    fork.is_some_and(|fork| trace.thread(fork) != trace.thread(event))
}
