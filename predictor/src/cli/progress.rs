//! A bar for work that takes long, in a terminal.

use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Work that is over before that needs no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// How often the clock is looked at.
const STRIDE: u64 = 1 << 12;

/// Progress towards an end that may not be known.
pub(super) struct Progress {
    what: &'static str,
    started: Instant,
    watched: bool,
    calls: u64,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn new(what: &'static str) -> Self {
        Self { what, started: Instant::now(), watched: stderr().is_terminal(), calls: 0, bar: None }
    }

    /// Says how far the work has come: so many of so many. Call it as often as you like.
    pub(super) fn update(&mut self, position: impl FnOnce() -> (u64, Option<u64>)) {
        self.calls += 1;
        if !self.watched || !self.calls.is_multiple_of(STRIDE) || self.started.elapsed() < PATIENCE
        {
            return;
        }
        let (done, total) = position();
        self.show(done, total);
    }

    /// Says so at once, if the wait has been long enough.
    fn show(&mut self, done: u64, total: Option<u64>) {
        if self.watched && self.started.elapsed() >= PATIENCE {
            let bar = self.bar.get_or_insert_with(|| new_bar(self.what, total));
            bar.set_position(done.max(bar.position()));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn new_bar(what: &'static str, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (ProgressBar::new(total), "{msg} {wide_bar} {percent}% {eta}"),
        None => (ProgressBar::new_spinner(), "{spinner} {msg} {human_pos}"),
    };
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.expect("the template is well formed")).with_message(what)
}

/// Progress that several threads report.
pub(super) struct SharedProgress {
    bar: Mutex<Progress>,
}

impl SharedProgress {
    pub(super) fn new(what: &'static str) -> Self {
        Self { bar: Mutex::new(Progress::new(what)) }
    }

    /// Says how far the work has come: so many of so many. What is reported late changes nothing.
    pub(super) fn update(&self, done: usize, all: usize) {
        // The thread that holds the lock is showing something about as new.
        if let Ok(mut progress) = self.bar.try_lock() {
            progress.show(done as u64, Some(all as u64));
        }
    }
}
