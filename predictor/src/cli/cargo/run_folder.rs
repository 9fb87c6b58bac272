//! What `cargo racelog` and the programs that cargo runs for it tell each other: a folder of files.
//!
//! Cargo stands between the two, so there is no other way: the command says that all is to stop,
//! and who stands before a program says that one was started, is still running, or took too long.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

/// The folder of one run of cargo.
#[derive(Debug)]
pub(super) struct RunFolder {
    path: PathBuf,
    /// It goes away with the command, not with the programs.
    _owned: Option<TempDir>,
}

impl RunFolder {
    pub(super) fn new() -> io::Result<Self> {
        let owned = TempDir::with_prefix("racelog-run-")?;
        let path = owned.path().to_owned();
        fs::create_dir(path.join("too-long"))?;
        fs::create_dir(path.join("times"))?;
        File::create(path.join("running"))?;
        Ok(Self { path, _owned: Some(owned) })
    }

    /// The folder that a command has made.
    pub(super) fn within(path: PathBuf) -> Self {
        Self { path, _owned: None }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Everything is to stop.
    pub(super) fn stop(&self) {
        // A program that does not see it is killed in the end.
        let _ = File::create(self.path.join("stop"));
    }

    /// Whether everything is to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.path.join("stop").exists()
    }

    /// A program is started. As long as what comes back is held, it runs.
    pub(super) fn enter(&self) -> io::Result<File> {
        let running = File::open(self.path.join("running"))?;
        // Where there are no locks, nobody waits for it.
        let _ = running.lock_shared();
        File::create(self.path.join("started"))?;
        Ok(running)
    }

    /// Whether any program was started.
    pub(super) fn has_started(&self) -> bool {
        self.path.join("started").exists()
    }

    /// Waits until no program runs any more, whatever has become of cargo.
    pub(super) fn wait_for_programs(&self) {
        // Without locks there is nothing to wait for.
        let _ = File::open(self.path.join("running")).and_then(|running| running.lock());
    }

    /// A program has not understood its arguments.
    pub(super) fn refused(&self) {
        let _ = File::create(self.path.join("refused"));
    }

    /// Whether a program has not understood its arguments.
    pub(super) fn was_refused(&self) -> bool {
        self.path.join("refused").exists()
    }

    /// A program ran for so long.
    pub(super) fn ran_for(&self, time: Duration) {
        // Without it suspects are tried for a shorter time.
        let name = format!("{}-{}", time.as_millis(), std::process::id());
        let _ = File::create(self.path.join("times").join(name));
    }

    /// How long all programs ran together.
    pub(super) fn run_time(&self) -> Duration {
        let files = fs::read_dir(self.path.join("times")).into_iter().flatten().flatten();
        let millis = files.filter_map(|file| {
            let name = file.file_name();
            name.to_str()?.split_once('-')?.0.parse::<u64>().ok()
        });
        Duration::from_millis(millis.sum())
    }

    /// A program, by the name of the folder of its traces, took too long.
    pub(super) fn took_too_long(&self, program: &str) {
        let _ = File::create(self.path.join("too-long").join(program));
    }

    /// Whether a program took too long.
    pub(super) fn was_too_long(&self, program: &str) -> bool {
        self.path.join("too-long").join(program).exists()
    }
}
