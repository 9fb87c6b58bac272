//! Finds out which session the calling thread belongs to.

use std::cell::Cell;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::current::{self, FOREIGN, IDLE, Silence};
use super::foreign::{self, Whose};
use super::open::open;
use super::owned::{OWNED, OwnedLog, foreign_log, new_log};
use crate::rt::base::call_site::CallSite;
use crate::rt::base::config::config;
use crate::rt::base::control;
use crate::rt::base::exit::at_exit;
use crate::rt::log::owner;
use crate::rt::log::session::Session;
use crate::rt::log::thread_log::ThreadLog;

thread_local! {
    /// When it was last looked whose the thread, if it is foreign, is: see [`foreign::changes`].
    static LOOKED_AT: Cell<u32> = const { Cell::new(0) };
}

/// Runs `f` with the log of this thread, if it is recorded.
#[inline]
pub(crate) fn with<R>(f: impl FnOnce(&ThreadLog) -> R) -> Option<R> {
    let log = current::get();
    if log == current::off() {
        return None;
    }
    let attached;
    let log = if log.addr() <= FOREIGN.addr() {
        // Under control, and not recorded.
        if log == IDLE {
            return None;
        }
        attached = attach(log)?;
        attached.log
    } else {
        log
    };
    // SAFETY: the pointer is cleared before the log goes, on this thread, and nothing within `f`
    // ends the thread or its session.
    Some(f(unsafe { &*log }))
}

/// A log that was looked for. One of a foreign thread is the thread's while this lives.
struct Attached {
    log: *const ThreadLog,
    foreign: bool,
}

impl Drop for Attached {
    fn drop(&mut self) {
        // Unless it has another one by now.
        if self.foreign && current::get() == self.log {
            current::set_briefly(FOREIGN);
        }
    }
}

/// Finds out whether this thread belongs to a session.
#[cold]
fn attach(log: *const ThreadLog) -> Option<Attached> {
    if log == FOREIGN {
        return attach_foreign();
    }
    // What follows may come back here, from the program's allocator for example.
    current::set(if control::controls_process() { IDLE } else { current::off() });
    if !config().on {
        return None;
    }
    if !foreign::is_main_thread() {
        return attach_foreign();
    }
    let session = process_session()?;
    let name = std::thread::current().name().map(str::to_owned);
    let log = new_log(session, name.as_deref(), session.latest());
    let log = OWNED.try_with(|owned| owned.install(log, None)).ok()?;
    Some(Attached { log, foreign: false })
}

/// Finds out which session the calling thread, which is foreign, belongs to now.
fn attach_foreign() -> Option<Attached> {
    let changes = foreign::changes();
    let mut log = OWNED.try_with(OwnedLog::current).ok()?;
    if LOOKED_AT.get() != changes {
        current::set(IDLE);
        log = look_whose(log);
        LOOKED_AT.set(changes);
        current::set(FOREIGN);
    }
    let log = log?;
    // What runs within an operation belongs to the same trace.
    current::set_briefly(log);
    Some(Attached { log, foreign: true })
}

/// The log that a foreign thread, which has this one so far, has from now on.
fn look_whose(current: Option<*const ThreadLog>) -> Option<*const ThreadLog> {
    // SAFETY: the calling thread owns the log, and is in no operation.
    let own = current.map(|log| unsafe { &*log });
    let stays = own.is_some_and(ThreadLog::holds_locks);
    let session = match foreign::whose(own.map(ThreadLog::session), stays) {
        Whose::Test(session) => Some(session),
        Whose::Process => process_session().cloned(),
        Whose::Unknown => None,
    };
    if let (Some(own), Some(session)) = (own, &session) {
        if Arc::ptr_eq(own.session(), session) {
            return current;
        }
    }
    let log = session.as_ref().and_then(foreign_log);
    OWNED.try_with(|owned| owned.replace(log)).ok()?
}

/// The calling thread is about to do something here. That matters only while it is not known whose
/// it is.
#[inline]
pub(crate) fn about_to_do(here: Option<CallSite>) {
    let log = current::get();
    if log.addr() <= FOREIGN.addr() && log != IDLE {
        foreign::is_about_to_act(here);
    }
}

/// The calling thread will be under control. Its log is as it was when the result is dropped.
pub(crate) fn about_to_be_controlled() -> Silence {
    with(|_| ());
    let log = current::get();
    if log == current::off() {
        current::set(IDLE);
    }
    owner::enter(None);
    Silence(log)
}

/// The session of the whole process, if `RACELOG=1` asks for one.
fn process_session() -> Option<&'static Arc<Session>> {
    static PROCESS: OnceLock<Option<Arc<Session>>> = OnceLock::new();
    PROCESS
        .get_or_init(|| {
            if !config().on {
                return None;
            }
            let program = std::env::current_exe().ok();
            let stem = program.as_deref().and_then(Path::file_stem);
            let stem = stem.map_or_else(|| "program".into(), |stem| stem.to_string_lossy());
            let session = open(&format!("{stem}-{}", std::process::id()), None)?;
            at_exit(finish_process);
            Some(session)
        })
        .as_ref()
}

extern "C" fn finish_process() {
    if let Some(session) = process_session() {
        with(|log| {
            if Arc::ptr_eq(log.session(), session) {
                log.seal();
            }
        });
        session.finish();
    }
}
