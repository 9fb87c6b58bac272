//! The recording of one test.

use super::current;
use super::foreign;
use super::open::open;
use super::owned::new_log;
use crate::rt::base::config::config;
use crate::rt::log::kept_log::KeptLog;
use crate::rt::log::thread_log::ThreadLog;

/// The recording of one test, on the thread that made it and all that it spawns.
#[derive(Debug)]
#[must_use]
pub(crate) struct RecordedTest {
    log: Option<KeptLog>,
    outer: *const ThreadLog,
}

impl RecordedTest {
    /// Starts to record the test `name` of `package`, if `RACELOG=1` asks for it.
    pub(crate) fn start(package: &str, name: &str) -> Self {
        let outer = current::get();
        let session = if config().on {
            open(&format!("{package}.{}", name.replace("::", ".")), Some(name))
        } else {
            None
        };
        if let Some(session) = &session {
            foreign::test_begins(name, session);
        }
        let log = session.map(|session| new_log(&session, Some("main"), 0));
        match &log {
            Some(log) => current::set(log.pointer()),
            // A test that cannot be recorded is not recorded elsewhere either.
            None if config().on => current::set(current::off()),
            None => {}
        }
        Self { log, outer }
    }
}

impl Drop for RecordedTest {
    fn drop(&mut self) {
        current::set(self.outer);
        if let Some(log) = self.log.take() {
            foreign::test_ends(log.session());
            log.seal();
            log.session().finish();
        }
    }
}
