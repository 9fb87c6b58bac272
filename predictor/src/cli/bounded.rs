//! Runs a program until it ends, its time is up, or somebody wants it to stop.
//!
//! All programs that the commands run go through here: so none outlives its time, and none is left
//! behind by an interrupt.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use racelog::interrupt;

/// How long a program that is asked to end may take to do so.
const GRACE: Duration = Duration::from_secs(2);

/// The longest time between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// What a run is bound by.
pub(super) struct Bounds<'a> {
    /// How long it may take.
    pub(super) time: Option<Duration>,
    /// Whether it is to stop. It is asked again and again.
    pub(super) stop: &'a dyn Fn() -> bool,
    /// Whether the program leads a group of its own, so that whatever it starts ends with it. It
    /// cannot read from the terminal then.
    pub(super) own_group: bool,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// By itself.
    Itself(ExitStatus),
    /// Its time was up, and it was killed.
    TimeUp,
    /// It was to stop, and did or was killed.
    Stopped,
}

/// Runs a command.
pub(super) fn run(command: &mut Command, bounds: &Bounds<'_>) -> io::Result<End> {
    #[cfg(unix)]
    if bounds.own_group {
        std::os::unix::process::CommandExt::process_group(command, 0);
    }
    let mut child = command.spawn()?;
    let is_over = |started: Instant| bounds.time.is_some_and(|time| started.elapsed() >= time);
    let started = Instant::now();
    let mut asked: Option<Instant> = None;
    let mut pause = Duration::from_millis(1);
    loop {
        match (child.try_wait(), asked) {
            (Ok(Some(status)), None) => return Ok(End::Itself(status)),
            (Ok(Some(_)), Some(_)) => return Ok(End::Stopped),
            (Err(error), _) => {
                kill(&mut child, bounds.own_group);
                return Err(error);
            }
            (Ok(None), Some(when)) if when.elapsed() >= GRACE => {
                kill(&mut child, bounds.own_group);
                return Ok(End::Stopped);
            }
            (Ok(None), None) if is_over(started) => {
                kill(&mut child, bounds.own_group);
                return Ok(End::TimeUp);
            }
            (Ok(None), None) if (bounds.stop)() => {
                interrupt::ask_to_end(child.id(), bounds.own_group);
                asked = Some(Instant::now());
                pause = Duration::from_millis(1);
            }
            (Ok(None), _) => thread::sleep(pause),
        }
        pause = (pause * 2).min(PAUSE);
    }
}

/// Kills a child that was not waited for yet, and waits for it.
fn kill(child: &mut Child, own_group: bool) {
    if own_group {
        interrupt::kill_group(child.id());
    }
    // It may have ended by now; that is as good.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, time: Option<Duration>, stop: &dyn Fn() -> bool) -> End {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(&mut command, &Bounds { time, stop, own_group: true }).unwrap()
    }

    #[test]
    fn programs_end_one_way_or_the_other() {
        let End::Itself(status) = shell("exit 3", None, &|| false) else { panic!("it ends") };
        assert_eq!(status.code(), Some(3));
        let short = Some(Duration::from_millis(1));
        assert_eq!(shell("while :; do :; done", short, &|| false), End::TimeUp);
        assert_eq!(shell("while :; do :; done", None, &|| true), End::Stopped);
    }

    #[test]
    fn what_a_program_starts_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("child");
        let script = format!(
            "sh -c 'echo $$ > {0}.new; mv {0}.new {0}; while :; do sleep 1; done' &
                              while :; do sleep 1; done",
            path.display()
        );
        assert_eq!(shell(&script, None, &|| path.exists()), End::Stopped);
        let child = std::fs::read_to_string(&path).unwrap();
        let child = std::path::Path::new("/proc").join(child.trim()).join("stat");
        // It may take a moment until somebody has waited for it.
        let is_gone = || std::fs::read_to_string(&child).map_or(true, |stat| stat.contains(") Z"));
        while std::path::Path::new("/proc/self").exists() && !is_gone() {
            thread::yield_now();
        }
    }
}
