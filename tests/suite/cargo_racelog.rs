//! `cargo racelog` on a workspace of three crates with forty tests: `tests/workspace`.
//!
//! All of it is one test: the parts share what was built and recorded.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use predictor::finding::{Finding, Kind, Level, ReplayStatus};
use predictor::project::Project;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{cargo_racelog, repository, run};

/// What people set for cargo, and nobody else is to know.
const SECRETS: [(&str, &str); 6] = [
    ("CARGO_REGISTRY_TOKEN", "secret-of-crates-io"),
    ("CARGO_REGISTRIES_MINE_TOKEN", "secret-of-mine"),
    // A proxy has a password as well, but cargo would use it.
    ("CARGO_HTTP_USER_AGENT", "secret-of-proxy"),
    ("CARGO_BIN_EXE_API_TOKEN", "secret-of-others"),
    // No word in these says what they are.
    ("CARGO_BIN_EXE_ACCESS", "secret-of-access"),
    ("CARGO_PKG_ACCESS", "secret-of-packages"),
];

/// A copy of the workspace, in a folder with a blank in its name.
struct Workspace {
    folder: PathBuf,
    _temp: TempDir,
}

impl Workspace {
    fn new() -> Self {
        let temp = tempfile::tempdir().expect("a folder");
        let folder = temp.path().join("a workspace");
        copy(&repository().join("tests/workspace"), &folder);
        Self { folder, _temp: temp }
    }

    /// Where it is kept how programs were run.
    fn state(&self) -> PathBuf {
        self._temp.path().join("state")
    }

    /// Where traces and reports go. What is built is the same in every copy.
    fn traces(&self) -> PathBuf {
        repository().join("target/a workspace/racelog")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = cargo_racelog();
        command.args(args).current_dir(&self.folder);
        command.env("CARGO_TARGET_DIR", repository().join("target/a workspace"));
        command.env("XDG_STATE_HOME", self.state());
        command.envs(SECRETS);
        for variable in ["CARGO", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "NO_COLOR"] {
            command.env_remove(variable);
        }
        command
    }

    /// Exit code, standard output, standard error.
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        run(&mut self.command(args), b"")
    }

    fn project(&self) -> Project {
        let text =
            fs::read_to_string(self.traces().join("report.json")).expect("there is a report");
        Project::from_json(&text).expect("it can be read")
    }
}

/// Copies a folder; manifests get to know where racelog is.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a new folder");
    for entry in fs::read_dir(from).expect("the folder is there").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
            continue;
        }
        let text = fs::read_to_string(&path).expect("it is text");
        let racelog = repository().join("racelog");
        let text = text.replace("\"RACELOG\"", &format!("{:?}", racelog.to_string_lossy()));
        fs::write(target, text).expect("it can be written");
    }
}

/// Where the accesses of a finding are.
fn places(finding: &Finding) -> Vec<String> {
    finding.places().map(|place| format!("{}:{}", place.file, place.line)).collect()
}

/// The line of a file of the workspace that has this text, as `file:line`.
fn line(file: &str, text: &str) -> String {
    let path = repository().join("tests/workspace").join(file);
    let source = fs::read_to_string(path).expect("the file is there");
    let at = source.lines().position(|line| line.contains(text)).expect("the line is there");
    format!("{file}:{}", at + 1)
}

#[test]
fn from_test_to_proof() {
    let workspace = Workspace::new();
    workspace.run(&["clean", "--traces"]);
    tests_are_recorded_and_reported(&workspace);
    secrets_stay_where_they_are(&workspace);
    reports_are_written_again(&workspace);
    shards_are_the_whole(&workspace);
    the_recipes_for_many_machines_work(&workspace);
    a_finding_is_replayed(&workspace);
    what_is_no_trace_is_skipped(&workspace);
    findings_that_do_not_count(&workspace);
    nothing_is_lost_to_what_records_nothing(&workspace);
    programs_are_recorded(&workspace);
    deadlocks_are_confirmed(&workspace);
    programs_that_hang_are_ended(&workspace);
}

fn tests_are_recorded_and_reported(workspace: &Workspace) {
    let (code, out, err) = workspace.run(&["test"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("this test fails on purpose"), "the tests' own results show\n{out}");
    let project = workspace.project();
    assert_eq!(project.traces.len(), 40, "{err}");
    assert_eq!(project.skipped, []);
    let mut tests: Vec<_> = project.traces.iter().map(|t| (&t.program, &t.test)).collect();
    tests.sort_unstable();
    tests.dedup();
    assert_eq!(tests.len(), 40, "every test has a trace of its own");
    let flag = [line("alpha/src/lib.rs", "flag.set(1)"), line("alpha/src/lib.rs", "flag.get()")];
    let balance = [line("beta/src/lib.rs", "set(amount)"), line("beta/src/lib.rs", "set(-amount)")];
    let found: Vec<_> = project.findings.iter().map(places).collect();
    assert_eq!(found, [flag, balance]);
    let [flag, balance] = &project.findings[..] else { panic!("just these two") };
    assert_eq!((flag.occurrences.len(), balance.occurrences.len()), (10, 1));
    for finding in &project.findings {
        assert_eq!(finding.kind, Kind::DataRace);
        let replay = finding.best().replay.as_ref().expect("it was replayed");
        assert_eq!(replay.status, ReplayStatus::Confirmed, "{replay:?}");
    }
    let locks = balance.occurrences[0].parts.iter().map(|part| part.locks.len());
    assert_eq!(locks.collect::<Vec<_>>(), [1, 1]);
}

/// The bytes of all files in a folder, but for what cargo has built.
fn bytes(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there").flatten() {
        match entry.file_type().expect("it is there").is_dir() {
            true if entry.file_name() == "build" => {}
            true => bytes.extend(self::bytes(&entry.path())),
            false => bytes.extend(fs::read(entry.path()).expect("it can be read")),
        }
    }
    bytes
}

fn secrets_stay_where_they_are(workspace: &Workspace) {
    let bytes = [bytes(&workspace.traces()), bytes(&workspace.state())].concat();
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has("CARGO_MANIFEST_DIR") && has("\"words\""), "it is known how programs were run");
    assert!(!has("secret-of-"), "a secret was kept");
}

fn reports_are_written_again(workspace: &Workspace) {
    let before = workspace.project();
    // From a folder within.
    let mut command = workspace.command(&["report", "--format", "json"]);
    command.current_dir(workspace.folder.join("beta/src"));
    let (code, out, err) = run(&mut command, b"");
    assert_eq!(code, 1, "{err}");
    assert_eq!(Project::from_json(&out), Ok(before.clone()));
    assert_eq!(workspace.project(), before, "nothing is lost");
    let (code, out, _) = workspace.run(&["report"]);
    assert_eq!(code, 1);
    assert!(out.contains("RL001") && out.contains("confirmed"), "{out}");
}

/// A report without what depends on how fast it went.
fn timeless(json: &str) -> String {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                if let Some(seconds) = fields.get_mut("seconds") {
                    *seconds = Value::Null;
                }
                fields.values_mut().for_each(strip);
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value: Value = serde_json::from_str(json).expect("it is JSON");
    strip(&mut value);
    serde_json::to_string_pretty(&value).expect("it is still JSON")
}

fn shards_are_the_whole(workspace: &Workspace) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let shards: Vec<String> = (1..=7).map(|index| path(&format!("{index}.json"))).collect();
    let mut found = 0;
    for (shard, index) in shards.iter().zip(1..) {
        let part = format!("{index}/7");
        let (code, _, err) =
            workspace.run(&["analyze", "--shard", &part, "--format", "json", "--output", shard]);
        assert!(code == 0 || code == 1, "{err}");
        let text = fs::read_to_string(shard).expect("it is written");
        found += usize::from(!Project::from_json(&text).expect("a report").findings.is_empty());
    }
    assert!(found > 1, "the work is spread");
    let mut args = vec!["merge", "--format", "json"];
    args.extend(shards.iter().map(String::as_str));
    let (code, merged, err) = workspace.run(&args);
    assert_eq!(code, 1, "{err}");
    let (_, whole, _) = workspace.run(&["analyze", "--format", "json"]);
    assert_eq!(timeless(&merged), timeless(&whole));
    args.pop();
    let (code, _, err) = workspace.run(&args);
    assert_eq!(code, 2);
    assert!(err.contains("missing: 7"), "{err}");
}

/// Runs what docs/SCALING.md has for a CI matrix, GNU parallel, Slurm and Kubernetes, each
/// machine's part after the other's.
fn the_recipes_for_many_machines_work(workspace: &Workspace) {
    let page = fs::read_to_string(repository().join("docs/SCALING.md")).expect("the page is there");
    let whole = workspace.run(&["analyze", "--format", "json"]).1;
    // From a word to the end of what the machine is to run, without the indentation of YAML.
    let between = |start: &str, end: &str| {
        let from = page.find(start).unwrap_or_else(|| panic!("no `{start}` in the page"));
        let text = &page[from..];
        text[..text.find(end).expect("it ends")].replace("\n              ", "\n")
    };
    let matrix =
        between("cargo racelog analyze traces --shard ${{ matrix.shard }}", "\n      - uses");
    let parallel = between("cargo racelog analyze traces --shard {}", "'\n");
    let slurm = between("#!/bin/sh\n#SBATCH", "```");
    let kubernetes = between("shard=$((JOB_COMPLETION_INDEX + 1))", "```");
    let numbers = |of: u32, name: &'static str, from: u32| {
        (0..of).map(|index| (name, (index + from).to_string())).collect::<Vec<_>>()
    };
    let recipes = [
        (matrix.replace("${{ matrix.shard }}", "$SHARD"), numbers(4, "SHARD", 1)),
        (parallel.replace("{}", "$SHARD"), numbers(16, "SHARD", 1)),
        (slurm, numbers(16, "SLURM_ARRAY_TASK_ID", 1)),
        (kubernetes, numbers(16, "JOB_COMPLETION_INDEX", 0)),
    ];
    for (script, machines) in recipes {
        let folder = workspace.folder.join("many machines");
        fs::create_dir_all(folder.join("shards")).expect("a folder");
        fs::copy(workspace.folder.join("Cargo.toml"), folder.join("Cargo.toml"))
            .expect("a manifest");
        for member in ["alpha", "beta", "gamma"] {
            copy(&workspace.folder.join(member), &folder.join(member));
        }
        // What is already there has another name.
        let traces = workspace.traces();
        let script = script.replace("analyze traces", &format!("analyze '{}'", traces.display()));
        for (variable, number) in machines {
            let mut command = workspace.command(&[]);
            let program = Path::new(command.get_program()).to_owned();
            let path = std::env::var_os("PATH").unwrap_or_default();
            let path = [program.parent().expect("a folder").as_os_str(), &path].join(":".as_ref());
            command = Command::new("sh");
            command.args(["-ec", &script]).current_dir(&folder).env("PATH", path);
            command.env("SLURM_CPUS_PER_TASK", "2").env("SLURM_ARRAY_TASK_COUNT", "16");
            command.env("CARGO_TARGET_DIR", folder.join("target")).env(variable, number);
            let (code, out, err) = run(&mut command, b"");
            assert_eq!(code, 0, "{script}\n{out}{err}");
        }
        let all = [folder.join("shards"), folder.clone()];
        let all =
            all.iter().flat_map(|folder| fs::read_dir(folder).expect("it is there").flatten());
        let shards: Vec<String> = all
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .map(|path| path.to_string_lossy().into_owned())
            .collect();
        let mut args = vec!["merge", "--format", "json"];
        args.extend(shards.iter().map(String::as_str));
        let (_, merged, err) = workspace.run(&args);
        assert!(!merged.is_empty(), "{script}\n{err}");
        assert_eq!(timeless(&merged), timeless(&whole), "{script}");
        fs::remove_dir_all(&folder).expect("it is there");
    }
}

fn a_finding_is_replayed(workspace: &Workspace) {
    let (code, out, err) = workspace.run(&["replay", "2"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.starts_with("confirmed"), "{out}");
    assert!(err.contains("runs what this machine ran before: \"/"), "{err}");
    // Another machine has not run it.
    let elsewhere = workspace.folder.join("elsewhere");
    let mut command = workspace.command(&["replay", "2"]);
    let (code, out, err) = run(command.env("XDG_STATE_HOME", elsewhere), b"");
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("this machine has not recorded that program"), "{err}");
    let (code, _, err) = workspace.run(&["replay", "99"]);
    assert_eq!(code, 2);
    assert!(err.contains("no finding 99"), "{err}");
}

fn what_is_no_trace_is_skipped(workspace: &Workspace) {
    let traces = workspace.traces();
    let real = workspace.project().traces[0].name.clone();
    let real = fs::read(traces.join(real)).expect("a trace");
    // A recording that came to nothing is a trace of no events, and is named.
    let empty = "empty.rlog";
    fs::write(traces.join(empty), b"").expect("it can be written");
    let bad: [(&str, &[u8]); 3] = [
        ("cut.rlog", &real[..real.len() / 2]),
        ("foreign.rlog", b"\x7fELF not a trace at all"),
        ("wrong.rtxt", b"t1 frobnicate x\n"),
    ];
    for (name, bytes) in bad {
        fs::write(traces.join(name), bytes).expect("it can be written");
    }
    fs::create_dir_all(traces.join("unreadable.rlog")).expect("a folder that is called a trace");
    let (code, out, err) = workspace.run(&["report"]);
    assert_eq!(code, 1, "{out}{err}");
    let project = workspace.project();
    assert_eq!((project.traces.len(), project.findings.len()), (41, 2));
    let note = project.trace(empty).and_then(|trace| trace.note.as_deref());
    assert!(note.is_some_and(|note| note.contains("nothing was recorded")), "{note:?}");
    let skipped: Vec<_> = project.skipped.iter().map(|skipped| skipped.name.as_str()).collect();
    assert_eq!(skipped, bad.map(|(name, _)| name));
    // Nothing was run, and what had been confirmed still is.
    for finding in &project.findings {
        assert_eq!(finding.best().replay.as_ref().unwrap().status, ReplayStatus::Confirmed);
    }
    for name in bad.map(|(name, _)| name).into_iter().chain([empty]) {
        assert!(out.contains(name) || err.contains(name), "`{name}` is named\n{out}{err}");
        fs::remove_file(traces.join(name)).expect("it is there");
    }
}

fn findings_that_do_not_count(workspace: &Workspace) {
    // By the file, by a comment, and one that fits nothing.
    let settings = "[[suppress]]\ncode = \"RL001\"\nlocation = \"beta/src/*\"\nreason = \"known\"\n\n\
                    [[suppress]]\nlocation = \"nowhere.rs\"\nreason = \"old\"\n";
    fs::write(workspace.folder.join("racelog.toml"), settings).expect("it can be written");
    let source = workspace.folder.join("alpha/src/lib.rs");
    let text = fs::read_to_string(&source).expect("it is there");
    let allowed = text.replace("flag.set(1);", "flag.set(1); // racelog: allow(RL001) only a hint");
    fs::write(&source, &allowed).expect("it can be written");
    let (code, out, err) = workspace.run(&["report"]);
    assert_eq!(code, 0, "{out}{err}");
    let project = workspace.project();
    assert!(project.findings.iter().all(|finding| finding.suppressed.is_some()));
    assert_eq!(project.unused_suppressions, ["[[suppress]] 2 of racelog.toml"]);
    assert!(out.contains("[[suppress]] 2 of racelog.toml"), "{out}");
    // Tests that fail show when nothing was found, also with flags for them.
    let (code, _, err) = workspace.run(&["test", "--no-confirm", "--", "--show-output"]);
    assert_eq!(code, 101, "{err}");
    fs::write(&source, text).expect("it can be written");
    fs::remove_file(workspace.folder.join("racelog.toml")).expect("it is there");
    // A baseline has what is known.
    let baseline = workspace.folder.join("baseline.json").to_string_lossy().into_owned();
    let (code, ..) = workspace.run(&["report", "--format", "json", "--output", &baseline]);
    assert_eq!(code, 1);
    let (code, _, err) = workspace.run(&["report", "--baseline", &baseline]);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = workspace.run(&["report", "--baseline", "missing.json"]);
    assert_eq!(code, 2);
    assert!(err.contains("missing.json"), "{err}");
    fs::write(workspace.folder.join("racelog.toml"), "windw = 3\n").expect("it can be written");
    let (code, _, err) = workspace.run(&["report"]);
    assert_eq!(code, 2);
    assert!(err.contains("windw"), "{err}");
    fs::remove_file(workspace.folder.join("racelog.toml")).expect("it is there");
}

fn nothing_is_lost_to_what_records_nothing(workspace: &Workspace) {
    let before = workspace.project();
    assert!(!before.traces.is_empty());
    let source = workspace.folder.join("gamma/src/lib.rs");
    let text = fs::read_to_string(&source).expect("it is there");
    let with = |wrong: &str| fs::write(&source, format!("{wrong}{text}")).expect("it is written");
    for (args, wanted) in [
        (&["test", "-p", "alpha", "--no-run"][..], 0),
        (&["test", "-p", "alpha", "--", "--list"], 0),
        // Cargo's own parser, and what it finds only after that.
        (&["test", "--no-such-flag"], 2),
        (&["run", "-p", "gamma", "--no-such-flag"], 2),
        (&["test", "-p", "no-such-package"], 2),
        (&["test", "-p", "alpha", "--test", "no-such-target"], 2),
        (&["test", "--window", "none"], 2),
        // What only the test program knows of.
        (&["test", "-p", "alpha", "--", "--no-such-flag"], 2),
        (&["test", "-p", "alpha", "--", "--test-threads=none"], 2),
        (&["test", "-p", "gamma"], 101),
    ] {
        with(if wanted == 101 { "this does not compile" } else { "" });
        let (code, out, err) = workspace.run(args);
        assert_eq!(code, wanted, "{args:?}\n{out}{err}");
        assert_eq!(workspace.project(), before, "{args:?}");
        let there = before.traces.iter().all(|trace| workspace.traces().join(&trace.name).exists());
        assert!(there && workspace.traces().join("report.html").exists(), "{args:?}");
    }
    with("");
    assert_eq!(workspace.run(&["replay", "1"]).0, 0, "it is still known how it was run");
}

fn programs_that_hang_are_ended(workspace: &Workspace) {
    let stood = |err: &str| {
        assert!(err.contains("`main`: its last recorded operation is `"), "{err}");
        assert!(err.contains("`other`: its last recorded operation is `"), "{err}");
        let held = err.lines().filter(|line| line.contains("; holds `")).count();
        assert_eq!(held, 2, "{err}");
    };
    let hang = ["run", "-p", "gamma", "--test-time", "5", "--", "hang"];
    let (code, out, err) = workspace.run(&hang);
    assert_eq!(code, 1, "{out}{err}");
    assert!(err.contains("`gamma` was ended after 5 seconds: see --test-time"), "{err}");
    // What happened is a finding: who waits for whom, and since where.
    assert!(out.contains("error[RL013]: hang in the recorded run"), "{out}");
    assert!(out.contains("thread `other` waits for `FIRST`, which `main` holds"), "{out}");
    assert!(out.contains("thread `main` waits for the end of `other`"), "{out}");
    assert!(out.contains("circle: "), "{out}");
    let project = workspace.project();
    let [hang] = &project.findings[..] else { panic!("one finding: {project:#?}") };
    assert_eq!((&hang.kind, hang.level), (&Kind::Hang, Level::Proven));
    let narrow = ["run", "-p", "gamma", "--test-time", "5", "--goals", "races", "--", "hang"];
    let (code, out, err) = workspace.run(&narrow);
    assert_eq!(code, 124, "{out}{err}");
    assert!(out.contains("no race found") && !out.contains("RL013"), "{out}");
    stood(&err);
    // An interrupt, which the command passes on. Not that of the keyboard: where the tests run in
    // the background, it is ignored by all of them.
    let mut command = workspace.command(&["run", "-p", "gamma", "--", "hang"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut out = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    assert!(out.any(|line| line.is_ok_and(|line| line == "it hangs")));
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(kill.expect("there is a `kill`").success());
    let rest: Vec<String> = out.map(|line| line.expect("it is text")).collect();
    let output = child.wait_with_output().expect("it ends");
    let err = String::from_utf8(output.stderr).expect("it is text");
    assert_eq!(output.status.code(), Some(143), "{err}");
    assert!(rest.iter().any(|line| line.starts_with("error[RL013]: ")), "{rest:?}");
    stood(&err);
}

fn programs_are_recorded(workspace: &Workspace) {
    let (code, out, err) = workspace.run(&["run", "-p", "gamma", "--", "first", "--format"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("[\"first\", \"--format\"]"), "{out}");
    let project = workspace.project();
    assert_eq!((project.traces.len(), project.findings.len()), (1, 1), "{err}");
    let replay = project.findings[0].best().replay.as_ref().expect("it was replayed");
    assert!(replay.status.is_confirmed(), "{replay:?}");
    // Nothing that racelog sees.
    let (code, _, err) = workspace.run(&["test", "-p", "alpha", "--", "no-such-test"]);
    assert_eq!(code, 2);
    assert!(err.contains("nothing was recorded"), "{err}");
}

fn deadlocks_are_confirmed(workspace: &Workspace) {
    let mut command = workspace.command(&["run", "-p", "gamma", "--", "opposite"]);
    // By this seed nobody is interrupted, so that nothing happens while it is recorded.
    let (code, out, err) = run(command.env("RACELOG_CONTROL", "pct:1:1:0"), b"");
    assert_eq!(code, 1, "{out}{err}");
    let project = workspace.project();
    let [finding] = &project.findings[..] else { panic!("{:?}", project.findings) };
    assert_eq!((&finding.kind, finding.level), (&Kind::Deadlock, Level::Proven), "{out}");
    let replay = finding.best().replay.as_ref().expect("it was replayed");
    assert!(replay.status.is_confirmed(), "{replay:?}");
    assert!(out.contains("none of them can go on, whatever others do"), "{out}");
    let (code, out, err) = workspace.run(&["replay", "1"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.starts_with("confirmed\n"), "{out}");
    assert!(out.contains(" waits for `") && out.contains(" holds it since "), "{out}");
}
