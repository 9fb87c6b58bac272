//! Files that somebody else has made: nothing in them is run, followed or shown raw.
//!
//! The folder of the traces of a small crate holds what a downloaded artefact could hold.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{cargo_racelog, run};

/// Two writes that race.
const RACY: &str = "t1 write x 1 @ src/lib.rs:1:1\nt2 write x 2 @ src/lib.rs:2:1\n";

/// A crate that nobody builds, and the folder of its traces.
struct Crate {
    folder: TempDir,
}

impl Crate {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let made = Self { folder };
        made.write("a crate/Cargo.toml", "[package]\nname = \"a\"\nedition = \"2024\"\n");
        made.write("a crate/src/lib.rs", "pub fn first() {}\npub fn second() {}\n");
        made
    }

    /// A file beside the crate or within.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn traces(&self, name: &str) -> PathBuf {
        self.path("a crate/target/racelog").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        fs::write(path, text).expect("it can be written");
    }

    /// A trace, and beside it a file that says how its program was run: by making another file.
    fn plant(&self, program: &str) -> PathBuf {
        let made = self.path("made by the command");
        self.write(&format!("a crate/target/racelog/{program}/a.rtxt"), RACY);
        let command = format!("touch '{}'", made.display());
        let recorded = json!({
            "words": ["/bin/sh", "-c", command], "folder": "/", "variables": [], "before": 0,
            "arguments": [],
        });
        let file = format!("a crate/target/racelog/{program}/program.json");
        self.write(&file, &recorded.to_string());
        made
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = cargo_racelog();
        command.args(args).current_dir(self.path("a crate"));
        command.env("XDG_STATE_HOME", self.path("state"));
        for variable in ["CARGO", "CARGO_TARGET_DIR", "CARGO_TERM_COLOR", "NO_COLOR"] {
            command.env_remove(variable);
        }
        command
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        run(&mut self.command(args), b"")
    }

    fn report(&self) -> Value {
        let text = fs::read_to_string(self.traces("report.json")).expect("there is a report");
        serde_json::from_str(&text).expect("it is JSON")
    }

    fn set_report(&self, report: &Value) {
        self.write("a crate/target/racelog/report.json", &report.to_string());
    }
}

#[test]
fn what_a_file_says_is_not_run() {
    let made = Crate::new();
    let witness = made.plant("program");
    for args in [&["report"][..], &["report", "--analyze"], &["analyze"]] {
        let (code, out, err) = made.run(args);
        assert_eq!(code, 1, "{out}{err}");
        assert!(out.contains("RL001"), "{out}");
        assert!(!witness.exists(), "{args:?} has run it");
    }
    let shard = made.path("1.json").display().to_string();
    made.run(&["analyze", "--shard", "1/1", "--format", "json", "--output", &shard]);
    let (code, _, err) = made.run(&["merge", &shard]);
    assert_eq!((code, witness.exists()), (1, false), "{err}");
    // Only this machine's own runs are run again; what else could be is shown.
    let (code, _, err) = made.run(&["replay", "1"]);
    assert_eq!((code, witness.exists()), (2, false), "{err}");
    assert!(err.contains("this machine has not recorded that program"), "{err}");
    assert!(err.contains("--trust-command") && err.contains("touch '"), "{err}");
    let (code, _, err) = made.run(&["replay", "1", "--trust-command"]);
    assert_eq!((code, witness.exists()), (2, true), "{err}");
    let shown = err.find("/bin/sh -c \"touch '").expect("the command is shown");
    assert!(shown < err.find("left no outcome").expect("it is no such program"), "{err}");
}

#[test]
fn arguments_and_tests_of_a_trace_are_not_taken_for_flags() {
    let made = Crate::new();
    let witness = made.plant("program");
    let test = format!("#racelog test x::--logfile={}\n{RACY}", witness.display());
    fs::write(made.traces("program/a.rtxt"), test).expect("it can be written");
    made.run(&["report"]);
    let (code, _, err) = made.run(&["replay", "1", "--trust-command"]);
    assert_eq!((code, witness.exists()), (2, false), "{err}");
    assert!(err.contains("is not the name of a test"), "{err}");
}

#[test]
fn names_of_traces_do_not_lead_elsewhere() {
    let made = Crate::new();
    let witness = made.plant("program");
    made.run(&["report"]);
    made.write("elsewhere/a.rtxt", RACY);
    fs::copy(made.traces("program/program.json"), made.path("elsewhere/program.json")).unwrap();
    let absolute = made.path("elsewhere/a.rtxt").display().to_string();
    let report = made.report();
    for name in ["../../../elsewhere/a.rtxt", "program/../../../../elsewhere/a.rtxt", &absolute] {
        let mut other = report.clone();
        other["traces"][0]["name"] = json!(name);
        other["findings"][0]["occurrences"][0]["trace"] = json!(name);
        made.set_report(&other);
        for args in [&["replay", "1"][..], &["replay", "1", "--trust-command"]] {
            let (code, _, err) = made.run(args);
            assert_eq!((code, witness.exists()), (2, false), "{name}: {err}");
            assert!(err.contains("names no file within the folder of the traces"), "{err}");
        }
    }
    made.set_report(&report);
    // Nor do links.
    fs::remove_dir_all(made.traces("program")).unwrap();
    symlink(made.path("elsewhere"), made.traces("program")).unwrap();
    let (code, _, err) = made.run(&["replay", "1", "--trust-command"]);
    assert_eq!((code, witness.exists()), (2, false), "{err}");
    assert!(err.contains("a link that leads out of its folder"), "{err}");
    let (code, _, err) = made.run(&["report"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("not looked into") && err.contains("there are no traces"), "{err}");
}

#[test]
fn traces_that_are_pipes_devices_or_links_are_skipped() {
    let made = Crate::new();
    made.plant("program");
    made.write("elsewhere/a.rtxt", RACY);
    symlink("/dev/zero", made.traces("program/device.rlog")).unwrap();
    symlink(made.path("elsewhere/a.rtxt"), made.traces("program/link.rtxt")).unwrap();
    symlink("a.rtxt", made.traces("program/within.rtxt")).unwrap();
    let pipe = made.traces("program/pipe.rlog");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (code, out, err) = made.run(&["report"]);
    assert_eq!(code, 1, "{out}{err}");
    let report = made.report();
    let names = |list: &str| -> Vec<String> {
        let list = report[list].as_array().unwrap();
        list.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("traces"), ["program/a.rtxt", "program/within.rtxt"]);
    let skipped = ["program/device.rlog", "program/link.rtxt", "program/pipe.rlog"];
    assert_eq!(names("skipped"), skipped);
    // A report that is none costs nothing either.
    fs::remove_file(made.traces("report.json")).unwrap();
    symlink("/dev/zero", made.traces("report.json")).unwrap();
    let (code, _, err) = made.run(&["replay", "1"]);
    assert_eq!((code, err.contains("a pipe or device")), (2, true), "{err}");
    assert_eq!(made.run(&["report"]).0, 1);
    assert!(Path::new("/dev/zero").exists() && made.traces("report.json").is_file());
}

#[test]
fn sources_are_shown_from_where_sources_are() {
    let made = Crate::new();
    made.write("a crate/src/lib.rs", "pub fn shown() {} // the crate's own\n");
    made.write("secret.rs", "let hidden = 1; // from elsewhere\n");
    made.write("a crate/.env", "TOKEN=1 // from elsewhere\n");
    symlink(made.path("secret.rs"), made.path("a crate/src/link.rs")).unwrap();
    let pipe = made.path("a crate/src/pipe.rs");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let absolute = made.path("secret.rs").display().to_string();
    let files =
        ["../secret.rs", "src/../../secret.rs", &absolute, ".env", "src/link.rs", "src/pipe.rs"];
    let more = ["/dev/zero", "/dev/stdin", "/etc/passwd", "../../../../../../etc/passwd", "src"];
    let mut text = String::new();
    for (number, file) in files.iter().chain(&more).enumerate() {
        text +=
            &format!("t1 write x{number} 1 @ {file}:1:1\nt2 write x{number} 2 @ src/lib.rs:1:5\n");
    }
    made.write("a crate/target/racelog/a.rtxt", &text);
    for format in ["text", "html", "sarif", "junit", "github", "json"] {
        let (code, out, err) = made.run(&["report", "--format", format]);
        assert_eq!(code, 1, "{err}");
        assert!(!out.contains("from elsewhere") && !out.contains("root:x:"), "{format}\n{out}");
        let shows = !["json", "junit", "sarif", "github"].contains(&format);
        assert_eq!(out.contains("the crate's own"), shows, "{format}\n{out}");
    }
}

/// A name that would clear the screen, ring the bell, break the line and turn the direction of
/// writing.
const RAW: &str = "a\u{1b}[2J\u{7}\u{9b}31m\n\u{202e}b\u{2066}";

fn assert_harmless(what: &str, text: &str) {
    let acts = |c: &char| {
        (c.is_control() && !['\n', '\t'].contains(c))
            || ['\u{61c}', '\u{200e}', '\u{200f}'].contains(c)
            || ('\u{202a}'..='\u{202e}').contains(c)
            || ('\u{2066}'..='\u{2069}').contains(c)
    };
    assert_eq!(text.chars().find(acts), None, "{what}\n{text:?}");
}

#[test]
fn nothing_reaches_the_terminal_raw() {
    let made = Crate::new();
    // Words of a trace have no control characters, but marks that turn the direction of writing.
    let mark = "\u{202e}";
    let event = |thread: &str, value: u32| {
        let place = format!("src/{mark}.rs:{value}:1");
        format!("{thread}{mark} write x{mark} {value} @ {place}\n")
    };
    let test = RAW.replace('\n', "\\n");
    let text = format!("#racelog test a::{test}\n{}{}", event("t1", 1), event("t2", 2));
    let folder = made.traces("program");
    fs::create_dir_all(&folder).unwrap();
    let [good, bad] = ["rtxt", "rlog"].map(|ending| folder.join(format!("{RAW}.{ending}")));
    fs::write(&good, text).unwrap();
    fs::write(&bad, RAW).unwrap();
    let [good, bad] = [good, bad].map(|path| path.to_str().unwrap().to_owned());
    let missing = format!("missing {RAW}");
    let commands: [&[&str]; 19] = [
        &["show", &good],
        &["show", &good, "--thread", RAW],
        &["show", &good, "--object", RAW],
        &["stats", &good, &bad, &missing],
        &["validate", &good, &bad, &missing],
        &["check", &good, "1,2"],
        &["check", &good, RAW],
        &["explore", &good],
        &["explore", &bad],
        &["analyze", &good],
        &["analyze", &good, "--format", "json"],
        &["witness", &good, "1,2"],
        &["witness", &good, RAW],
        &["compare", &good, "--detector", "hb"],
        &["replay", &good, "1,2", "--", RAW],
        &["fuzz", "--trace", &good, "--runs", "1", "--", RAW],
        &["convert", &bad, "-"],
        &["generate", &missing, "--events", "9"],
        &[RAW],
    ];
    for args in commands {
        let (_, out, err) = run(crate::support::predictor().args(args), b"");
        assert_harmless(&format!("{args:?}"), &(out + &err));
    }
    for format in ["text", "json", "sarif", "junit", "github", "perfetto"] {
        let (_, out, err) = made.run(&["report", "--format", format]);
        assert!(!out.is_empty(), "{format}: {err}");
        assert_harmless(format, &(out + &err));
    }
    let coloured = made.run(&["report", "--color", "always"]).1;
    assert!(coloured.contains("\u{1b}[1m"), "{coloured:?}");
    assert!(!coloured.contains("\u{1b}[2J") && !coloured.contains(mark), "{coloured:?}");
    // Cargo's variable counts like the flag, which comes first.
    let by_variable = |value: &str, args: &[&str]| {
        run(made.command(args).env("CARGO_TERM_COLOR", value), b"").1.contains("\u{1b}[1m")
    };
    assert!(by_variable("always", &["report"]) && !by_variable("never", &["report"]));
    assert!(!by_variable("always", &["report", "--color", "never"]));
    made.run(&["report"]);
    let others: [&[&str]; 9] = [
        &["replay", "1"],
        &["replay", "1", "--trust-command"],
        &["replay", RAW],
        &["explain", RAW],
        &["merge", &bad],
        &["merge", &missing],
        &["analyze", &good, &bad],
        &["report", "--baseline", &missing],
        &["test", "--manifest-path", RAW],
    ];
    for args in others {
        let (_, out, err) = made.run(args);
        assert_harmless(&format!("{args:?}"), &(out + &err));
    }
}
