//! Interrupts, signals and the ends of children, for the commands that run recorded programs. Not
//! for programs.
//!
//! The analyser has no unsafe code, and asking the system for these needs some: it is all here.

/// The signals that ask a command to end: an interrupt from the keyboard, and the polite one.
#[cfg(unix)]
const ASKING: [libc::c_int; 2] = [libc::SIGINT, libc::SIGTERM];

#[cfg(unix)]
mod caught {
    use std::io::{self, PipeReader, PipeWriter};
    use std::os::fd::AsRawFd;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicI32, Ordering};

    /// The first signal that asked; 0 if none did.
    pub(super) static FIRST: AtomicI32 = AtomicI32::new(0);

    /// Where the handler writes a byte to wake a thread that waits; -1 if there is no pipe.
    pub(super) static WAKE: AtomicI32 = AtomicI32::new(-1);

    /// The pipe between the handler and the thread that waits. It stays open for ever.
    pub(super) fn pipe() -> Option<&'static (PipeReader, PipeWriter)> {
        static PIPE: OnceLock<Option<(PipeReader, PipeWriter)>> = OnceLock::new();
        let pipe = PIPE.get_or_init(|| {
            let pipe = io::pipe().ok()?;
            WAKE.store(pipe.1.as_raw_fd(), Ordering::SeqCst);
            Some(pipe)
        });
        pipe.as_ref()
    }
}

#[cfg(unix)]
extern "C" fn note(signal: libc::c_int) {
    use std::sync::atomic::Ordering;
    let first = caught::FIRST.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
    if first.is_err() {
        // SAFETY: both may be called by a handler of signals; the signal comes when this one is
        // over.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        return;
    }
    let wake = caught::WAKE.load(Ordering::SeqCst);
    if wake >= 0 {
        // SAFETY: the byte is there, the pipe is never closed, and a handler may write. The pipe is
        // empty, so that does not fail, and leaves `errno` alone.
        unsafe { libc::write(wake, (&raw const WOKEN).cast(), 1) };
    }
}

/// What is written to wake a thread.
#[cfg(unix)]
static WOKEN: u8 = 1;

/// From now on the first signal that asks for the end is noted, and only the second one ends the
/// process. Who was told to ignore such signals goes on doing so.
pub fn note_first() {
    // Without a pipe no thread is woken; those who ask are told all the same.
    #[cfg(unix)]
    let _ = caught::pipe();
    #[cfg(unix)]
    for signal in ASKING {
        let handler = note as extern "C" fn(libc::c_int);
        // SAFETY: the handler stores a number, and calls nothing that a handler must not.
        unsafe {
            let before = libc::signal(signal, handler as libc::sighandler_t);
            if before == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
    }
}

/// From now on such signals end the process, as they usually do.
pub fn as_usual() {
    #[cfg(unix)]
    for signal in ASKING {
        // SAFETY: this is how it was when the process started.
        unsafe {
            if libc::signal(signal, libc::SIG_DFL) == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
    }
}

/// The signal that was noted.
pub fn noted() -> Option<i32> {
    #[cfg(unix)]
    let signal = caught::FIRST.load(std::sync::atomic::Ordering::SeqCst);
    #[cfg(not(unix))]
    let signal = 0;
    (signal != 0).then_some(signal)
}

/// Waits until a signal is noted. Only one thread may do so. Where there are no signals, it waits
/// for ever.
pub fn wait_until_noted() {
    #[cfg(unix)]
    if let Some((mut reader, _)) = caught::pipe().map(|(reader, writer)| (reader, writer)) {
        use std::io::Read;
        while noted().is_none() {
            let mut byte = [0];
            let _ = reader.read(&mut byte);
        }
        return;
    }
    loop {
        std::thread::park();
    }
}

/// Waits until a child has ended, and leaves it to others to wait for it in the sense of the
/// system: until then its number is not given to another process.
#[cfg(unix)]
pub fn wait_for_end(child: u32) {
    loop {
        // SAFETY: a structure of integers and pointers may be all zero; the system only writes to
        // it.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let flags = libc::WEXITED | libc::WNOWAIT;
        // SAFETY: the structure is there for the call.
        let ended = unsafe { libc::waitid(libc::P_PID, child, &raw mut info, flags) };
        let error = std::io::Error::last_os_error();
        if ended == 0 || error.kind() != std::io::ErrorKind::Interrupted {
            return;
        }
    }
}

/// Asks a child that was not waited for yet to end, and everybody in its group if it leads one.
pub fn ask_to_end(child: u32, leads_group: bool) {
    #[cfg(unix)]
    send(child, leads_group, libc::SIGTERM);
    #[cfg(not(unix))]
    let _ = (child, leads_group);
}

/// Kills the group that a child leads that was not waited for yet.
pub fn kill_group(leader: u32) {
    #[cfg(unix)]
    send(leader, true, libc::SIGKILL);
    #[cfg(not(unix))]
    let _ = leader;
}

#[cfg(unix)]
fn send(child: u32, to_group: bool, signal: libc::c_int) {
    let Ok(child) = libc::pid_t::try_from(child) else { return };
    // Other numbers would mean other processes.
    if child > 1 {
        // SAFETY: the number is that of a child of ours that is still there.
        unsafe { libc::kill(if to_group { -child } else { child }, signal) };
    }
}

/// Ends the process as a signal would that it does not handle, without a core file of its own.
pub fn end_by(signal: i32) -> ! {
    #[cfg(unix)]
    {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the limit is a valid one, and the signal is raised in this thread.
        unsafe {
            libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
    std::process::exit(128_i32.saturating_add(signal))
}
