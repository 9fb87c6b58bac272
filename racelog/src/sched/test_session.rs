//! One test, recorded and under control as the environment asks for.

use super::process::TestControl;
use crate::rt::RecordedTest;

/// A session for one test, on the thread that made it and all that it spawns.
#[derive(Debug)]
#[must_use]
pub struct TestSession {
    /// Ends before the recording does: fields are dropped in this order.
    _control: Option<TestControl>,
    _recorded: RecordedTest,
}

impl TestSession {
    /// Starts to record the test `name` of `package`, if `RACELOG=1` asks for it.
    pub fn start(package: &str, name: &str) -> Self {
        let recorded = RecordedTest::start(package, name);
        Self { _control: TestControl::start(name), _recorded: recorded }
    }
}
