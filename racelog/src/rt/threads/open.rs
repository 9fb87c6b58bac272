//! Opens sessions.

use std::sync::Arc;
use std::time::SystemTime;

use super::panics;
use crate::rt::base::config::config;
use crate::rt::base::control;
use crate::rt::base::message::say;
use crate::rt::log::session::Session;
use crate::rt::memory::allocator;
use crate::trace::Metadata;

/// Opens a session; says why if that cannot be.
pub(in crate::rt) fn open(name: &str, test: Option<&str>) -> Option<Arc<Session>> {
    let clean: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' })
        .collect();
    let path = config().folder.join(format!("{clean}.rlog"));
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let metadata = Metadata {
        program: std::env::current_exe().ok().map(|path| path.to_string_lossy().into_owned()),
        arguments: std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect(),
        test: test.map(str::to_owned),
        // Under control the trace is to say the same every time.
        started: since_epoch
            .ok()
            .filter(|_| !control::controls_process())
            .and_then(|time| u64::try_from(time.as_millis()).ok()),
    };
    match Session::create(&path, &metadata, config().max_bytes) {
        Ok(session) => {
            allocator::find_out();
            panics::listen();
            Some(session)
        }
        Err(error) => {
            let path = path.display();
            say(format_args!("{path}: cannot record, the program goes on: {error}"));
            None
        }
    }
}
