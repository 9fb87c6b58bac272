//! Threads as the system knows them.

use std::time::Instant;

/// The calling thread as the system knows it.
#[cfg(target_os = "linux")]
pub(in crate::sched) fn system_id() -> i32 {
    std::thread_local! {
        /// Asked for once: many runs begin in one thread.
        static ID: std::cell::Cell<i32> = const { std::cell::Cell::new(0) };
    }
    if ID.get() == 0 {
        // SAFETY: the call takes nothing and cannot fail.
        ID.set(unsafe { libc::gettid() });
    }
    ID.get()
}

#[cfg(not(target_os = "linux"))]
pub(in crate::sched) fn system_id() -> i32 {
    0
}

/// Whether a thread sleeps in the system. Threads under Miri are none of the system's.
#[cfg(target_os = "linux")]
pub(in crate::sched) fn is_asleep(system_id: i32, _: Instant) -> bool {
    if cfg!(miri) {
        return false;
    }
    let stat = std::fs::read_to_string(format!("/proc/self/task/{system_id}/stat"));
    // The state follows the name, which stands in parentheses and may have some of its own.
    let state = stat.ok().and_then(|stat| {
        let (_, rest) = stat.rsplit_once(')')?;
        rest.trim_start().chars().next()
    });
    matches!(state, Some('S' | 'D'))
}

/// Where the system does not say: a thread that takes no step for a second counts as asleep.
#[cfg(not(target_os = "linux"))]
pub(in crate::sched) fn is_asleep(_: i32, since: Instant) -> bool {
    since.elapsed() > std::time::Duration::from_secs(1)
}
