use std::fs;
use std::path::Path;

use super::*;

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn captured(script: &str, limits: &Limits<'_>) -> Finished {
    let bounds = Bounds { first_of_stdout: 1000, last_of_stderr: 1000 };
    run_captured(&mut shell(script), limits, bounds).unwrap()
}

const GROUP: Limits<'static> =
    Limits { time: None, own_group: true, interrupt: Interrupt::Ends, stop_when: None };

/// A script that waits for ever.
const FOR_EVER: &str = "while :; do sleep 1000; done";

#[test]
fn a_program_ends_by_itself() {
    let finished = captured("echo out; echo err >&2; exit 3", &GROUP);
    assert_eq!((finished.end, finished.end.code()), (End::Exit(3), Some(3)));
    assert_eq!((finished.stdout.bytes, finished.stderr.bytes), (b"out\n".into(), b"err\n".into()));
    let finished = run(&mut shell("exit 4"), &Limits::default()).unwrap();
    assert_eq!((finished.end, finished.stdout), (End::Exit(4), Captured::default()));
}

#[test]
fn a_signal_ends_a_program() {
    let end = captured("kill -s ABRT $$", &GROUP).end;
    assert_eq!((end, end.code()), (End::Signal(6), None));
    assert_eq!(end.to_string(), "signal: 6");
}

#[test]
fn a_missing_program_is_said() {
    let error = run(&mut Command::new("./no such program"), &GROUP).unwrap_err();
    assert_eq!(error.program, "./no such program");
    assert!(error.to_string().starts_with("it cannot be started: No such file"), "{error}");
}

#[test]
fn a_program_that_is_to_stop_does() {
    let stop = || true;
    let end = captured(FOR_EVER, &Limits { stop_when: Some(&stop), ..GROUP }).end;
    assert_eq!(end, End::Stopped);
    // Even if it ends well when it is asked to.
    let script = format!("trap 'exit 0' TERM; echo; {FOR_EVER}");
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let script = script.replace("echo", &format!("touch {}", started.display()));
    let stop = || started.exists();
    assert_eq!(captured(&script, &Limits { stop_when: Some(&stop), ..GROUP }).end, End::Stopped);
}

/// Whether a process is gone, or only waits to be waited for.
fn is_gone(process: &str) -> bool {
    let stat = Path::new("/proc").join(process).join("stat");
    fs::read_to_string(stat).map_or(true, |stat| stat.contains(") Z"))
}

/// A script that leaves its grandchild's number in a file, and the file.
fn with_grandchild(folder: &Path, then: &str) -> (String, std::path::PathBuf) {
    let file = folder.join("grandchild");
    let script = format!(
        "sh -c 'echo $$ > {0}.new; mv {0}.new {0}; {FOR_EVER}' &
         while ! test -e {0}; do :; done; {then}",
        file.display()
    );
    (script, file)
}

#[track_caller]
fn assert_gone(file: &Path) {
    let process = fs::read_to_string(file).unwrap();
    // The system takes a moment to end a process that was killed.
    while Path::new("/proc/self").exists() && !is_gone(process.trim()) {
        std::thread::yield_now();
    }
}

#[test]
fn a_grandchild_does_not_outlive_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let (script, file) = with_grandchild(folder.path(), FOR_EVER);
    // Time enough to start; the group is killed after it.
    let mut time = Duration::from_millis(100);
    while !file.exists() {
        let limits = Limits { time: Some(time), ..GROUP };
        let started = Instant::now();
        let finished = captured(&script, &limits);
        assert_eq!(finished.end, End::TimeUp);
        assert!(finished.time >= time && started.elapsed() >= time);
        time *= 2;
    }
    assert_gone(&file);
}

#[test]
fn a_grandchild_does_not_hold_the_output_of_a_program_open() {
    let folder = tempfile::tempdir().unwrap();
    let (script, file) = with_grandchild(folder.path(), "echo done; exit 0");
    let finished = captured(&script, &GROUP);
    assert_eq!((finished.end, finished.stdout.bytes), (End::Exit(0), b"done\n".to_vec()));
    assert_gone(&file);
}

#[test]
fn a_program_does_not_outlive_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let (script, file) = with_grandchild(folder.path(), FOR_EVER);
    let stop = || if file.exists() { panic!("in the condition") } else { false };
    let limits = Limits { stop_when: Some(&stop), ..GROUP };
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| captured(&script, &limits)));
    ran.unwrap_err();
    assert_gone(&file);
}

#[test]
fn huge_output_is_read_and_bounded() {
    let script = "i=0; while test $i -lt 20000; do echo 0123456789; echo 0123456789 >&2; \
                  i=$((i+1)); done; echo end; echo end >&2";
    let finished = captured(script, &GROUP);
    assert_eq!(finished.end, End::Exit(0));
    let all = 20_000 * 11 + 4;
    for captured in [&finished.stdout, &finished.stderr] {
        assert_eq!((captured.bytes.len(), captured.dropped), (1000, all - 1000));
    }
    assert!(finished.stdout.bytes.starts_with(b"0123456789\n"));
    assert!(finished.stderr.bytes.ends_with(b"0123456789\nend\n"));
}

#[test]
fn an_interrupt_that_was_not_noted_stops_nothing() {
    assert!(interrupt::noted().is_none());
    let tell = || panic!("there was no interrupt");
    let interrupt = Interrupt::EndsAfter { tell: &tell, patience: Duration::ZERO };
    assert_eq!(captured("exit 0", &Limits { interrupt, ..GROUP }).end, End::Exit(0));
}
