//! Runs cargo so that programs are built for recording, and recorded.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use cargo_config2::{Config, TargetTriple};
use racelog::contract::environment::{OWN_ALLOCATOR, RECORD_ON, Variable};

use super::super::Failure;
use super::own_runs::OwnRuns;
use super::run_folder::RunFolder;
use super::runner;
use super::workspace::{Workspace, cargo};
use crate::child::{self, CannotStart, End, Interrupt, Limits};

/// What makes code ready for recording.
const CFG: [&str; 2] = ["--cfg", "racelog"];

/// How long cargo may take to notice that its programs have stopped.
const PATIENCE: Duration = Duration::from_secs(5);

/// How programs are run.
pub(super) struct Way<'a> {
    pub(super) runs: &'a OwnRuns,
    pub(super) run_folder: &'a RunFolder,
    /// How long each may take.
    pub(super) time: Option<Duration>,
    /// Whether the report needs standard output for itself.
    pub(super) quiet_output: bool,
    /// Whether the program has an allocator of its own, where racelog's would be.
    pub(super) own_allocator: bool,
}

/// What cargo's own arguments say that we have to know.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Peeked {
    pub(super) manifest: Option<PathBuf>,
    pub(super) target_dir: Option<PathBuf>,
    /// The target that is built for.
    target: Option<String>,
    /// All the others, and these but for the target directory.
    pub(super) rest: Vec<OsString>,
    /// Whether nothing is asked to run: programs are only built, or tests only listed.
    pub(super) runs_nothing: bool,
    /// The packages and targets that are named.
    pub(super) named: Vec<(Named, String)>,
}

/// What an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Package,
    /// A target of this kind, as cargo's metadata has it.
    Target(&'static str),
}

/// The flags that name something.
const NAMING: [(&str, Named); 6] = [
    ("--package", Named::Package),
    ("-p", Named::Package),
    ("--test", Named::Target("test")),
    ("--bin", Named::Target("bin")),
    ("--example", Named::Target("example")),
    ("--bench", Named::Target("bench")),
];

impl Peeked {
    /// The target that is built for, if one was asked for.
    pub(super) fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Those of a subcommand.
    pub(super) fn new(subcommand: &[&str], args: &[OsString]) -> Self {
        let mut peeked = Self::default();
        let mut words = args.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                // To other programs these words mean something else.
                let lists = |word: &OsString| ["--list", "--help", "-h"].iter().any(|w| word == *w);
                peeked.runs_nothing |= subcommand == ["test"] && words.clone().any(lists);
                peeked.rest.push(word.clone());
                peeked.rest.extend(words.by_ref().cloned());
                break;
            }
            let text = word.to_string_lossy();
            peeked.runs_nothing |= text == "--no-run";
            if let Some((named, value)) = names(&text, words.clone().next()) {
                peeked.named.push((named, value));
            }
            let mut value = |name: &str| match text.strip_prefix(name) {
                Some("") => words.next().cloned(),
                Some(rest) => rest.strip_prefix('=').map(OsString::from),
                None => None,
            };
            if let Some(dir) = value("--target-dir") {
                peeked.target_dir = Some(dir.into());
                continue;
            }
            let manifest = value("--manifest-path");
            let target = if manifest.is_none() { value("--target") } else { None };
            match (manifest, target) {
                (Some(path), _) => {
                    peeked.rest.extend(["--manifest-path".into(), path.clone()]);
                    peeked.manifest = Some(path.into());
                }
                (None, Some(target)) => {
                    peeked.rest.extend(["--target".into(), target.clone()]);
                    peeked.target = Some(target.to_string_lossy().into_owned());
                }
                (None, None) => peeked.rest.push(word.clone()),
            }
        }
        peeked
    }
}

/// What cargo's configuration says.
struct Configured {
    config: Config,
    /// What is built for.
    target: TargetTriple,
}

impl Configured {
    fn new(args: &Peeked) -> Result<Self, Failure> {
        let config = Config::load().map_err(problem)?;
        let targets = config.build_target_for_config(args.target.as_deref()).map_err(problem)?;
        let target = match targets.first() {
            Some(target) => target.clone(),
            None => config.host_triple().map_err(problem)?.to_owned().into(),
        };
        Ok(Self { config, target })
    }
}

fn problem(error: cargo_config2::Error) -> Failure {
    Failure::of("cargo's configuration", error)
}

/// Flags of the compiler, with ours, as cargo takes them.
fn encoded(flags: Option<cargo_config2::Flags>) -> Result<String, Failure> {
    let mut flags = flags.unwrap_or_default();
    if !flags.flags.windows(CFG.len()).any(|words| words == CFG) {
        flags.flags.extend(CFG.map(str::to_owned));
    }
    flags.encode().map_err(problem)
}

/// The flags that the compiler gets when a program is built for recording.
pub(super) fn rustflags(args: &Peeked) -> Result<String, Failure> {
    let Configured { config, target } = Configured::new(args)?;
    encoded(config.rustflags(&target).map_err(problem)?)
}

/// What a word names, alone or with the next.
fn names(word: &str, next: Option<&OsString>) -> Option<(Named, String)> {
    NAMING.iter().find_map(|(flag, named)| {
        let value = match word.strip_prefix(flag)? {
            "" => next?.to_str()?,
            rest => rest.strip_prefix('=')?,
        };
        Some((*named, value.to_owned()))
    })
}

/// Runs a subcommand of cargo, such as `test` or `nextest run`, recorded. What it prints goes to
/// standard error if the report needs standard output for itself.
pub(super) fn run(
    workspace: &Workspace,
    subcommand: &[&str],
    args: &Peeked,
    way: &Way<'_>,
) -> Result<End, Failure> {
    let Configured { config, target } = Configured::new(args)?;
    let rustflags = encoded(config.rustflags(&target).map_err(problem)?)?;
    let rustdocflags = encoded(config.rustdocflags(&target).map_err(problem)?)?;
    let mut runner: Vec<OsString> = Vec::new();
    runner.push(std::env::current_exe().map_err(|e| Failure::of("cargo-racelog", e))?.into());
    runner.extend(["racelog".into(), runner::NAME.into(), subcommand[0].into()]);
    runner.extend([workspace.folder.clone().into(), way.runs.folder().into()]);
    let time = way.time.map_or_else(|| "-".to_owned(), |time| time.as_secs_f64().to_string());
    runner.extend([way.run_folder.path().into(), time.into()]);
    let theirs = config.runner(&target).map_err(problem)?;
    let theirs: Vec<OsString> =
        theirs.map_or_else(Vec::new, |r| [r.path.into()].into_iter().chain(r.args).collect());
    runner.push(theirs.len().to_string().into());
    runner.extend(theirs);
    let runner: Vec<String> = runner.iter().map(|word| toml_string(word)).collect();
    let runner = format!("target.{}.runner=[{}]", target.triple(), runner.join(","));
    let mut command = Command::new(cargo());
    command.args(subcommand).arg("--config").arg(runner);
    // A test that fails must not keep others from being recorded.
    let is_said =
        |word: &OsString| ["--no-fail-fast", "--fail-fast"].iter().any(|flag| word == *flag);
    if subcommand != ["run"] && !args.rest.iter().any(is_said) {
        command.arg("--no-fail-fast");
    }
    command.args(&args.rest);
    command
        .env("CARGO_ENCODED_RUSTFLAGS", rustflags)
        .env("CARGO_ENCODED_RUSTDOCFLAGS", rustdocflags)
        .env("CARGO_TARGET_DIR", workspace.build_folder())
        .env(Variable::Record, RECORD_ON)
        // Doc tests do not go through the runner of every cargo.
        .env(Variable::Folder, workspace.folder.join(runner::OTHERS));
    for variable in Variable::CONTROLLING {
        command.env_remove(variable);
    }
    if way.own_allocator {
        command.env(Variable::Allocator, OWN_ALLOCATOR);
    }
    if way.quiet_output {
        command.stdout(Stdio::from(std::io::stderr()));
    }
    wait(&mut command, way.run_folder).map_err(|error| Failure::of("cargo", error.source))
}

/// Runs cargo until it ends. When an interrupt is noted, the programs are told to stop, and cargo
/// itself is only ended if it does not see that they do.
fn wait(command: &mut Command, run_folder: &RunFolder) -> Result<End, CannotStart> {
    let tell = || run_folder.stop();
    let interrupt = Interrupt::EndsAfter { tell: &tell, patience: PATIENCE };
    let finished = child::run(command, &Limits { interrupt, ..Limits::default() });
    run_folder.wait_for_programs();
    Ok(finished?.end)
}

/// A string of TOML. JSON's escapes are among those of TOML.
fn toml_string(word: &OsStr) -> String {
    serde_json::Value::from(word.to_string_lossy().into_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peek(line: &str) -> Peeked {
        Peeked::new(&["test"], &line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn some_flags_are_looked_at() {
        let peeked = peek(
            "-p a --target-dir /t --manifest-path=x/Cargo.toml --target arm -- --target-dir y",
        );
        assert_eq!(peeked.target_dir, Some("/t".into()));
        assert_eq!(peeked.manifest, Some("x/Cargo.toml".into()));
        assert_eq!(peeked.target.as_deref(), Some("arm"));
        let rest: Vec<_> = peeked.rest.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(
            rest.join(" "),
            "-p a --manifest-path x/Cargo.toml --target arm -- --target-dir y"
        );
    }

    #[test]
    fn what_is_only_built_or_listed_is_known() {
        for line in ["--no-run", "-p a --no-run", "-- --list", "a -- --format terse --list"] {
            assert!(peek(line).runs_nothing, "{line}");
        }
        assert!(!peek("-p a -- --nocapture").runs_nothing);
        let words = ["--".into(), "--list".into()];
        assert!(!Peeked::new(&["run"], &words).runs_nothing);
        let named = peek("-p a --package=b --test c --bins -- -p d").named;
        let package = |name: &str| (Named::Package, name.to_owned());
        let test = (Named::Target("test"), "c".to_owned());
        assert_eq!(named, [package("a"), package("b"), test]);
    }

    #[test]
    fn paths_may_have_blanks_and_quotes() {
        assert_eq!(toml_string(OsStr::new("/a b/\"c\\")), r#""/a b/\"c\\""#);
    }
}
