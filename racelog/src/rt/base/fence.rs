//! A memory fence that one thread makes for all threads of the process, so that the others need
//! none.

pub(in crate::rt) use imp::{everywhere, is_available};

// Miri knows of no such fence.
#[cfg(all(target_os = "linux", not(miri)))]
mod imp {
    use std::sync::OnceLock;

    // The kernel's numbers, which the C library does not name.
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: the call takes numbers, and touches no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }

    /// Whether the system has such a fence; if it has, the process may use it from now on.
    pub(in crate::rt) fn is_available() -> bool {
        static AVAILABLE: OnceLock<bool> = OnceLock::new();
        *AVAILABLE
            .get_or_init(|| membarrier(REGISTER_PRIVATE_EXPEDITED) && membarrier(PRIVATE_EXPEDITED))
    }

    /// When this returns, every thread has made a full fence since it was called. Only if it is
    /// available.
    pub(in crate::rt) fn everywhere() {
        // It can fail for want of memory, for a moment.
        while !membarrier(PRIVATE_EXPEDITED) {
            std::thread::yield_now();
        }
    }
}

#[cfg(any(not(target_os = "linux"), miri))]
mod imp {
    pub(in crate::rt) fn is_available() -> bool {
        false
    }

    pub(in crate::rt) fn everywhere() {
        unreachable!("it is not available");
    }
}
