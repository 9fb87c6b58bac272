//! What a crate's manifest needs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use toml::{Table, Value};

use super::super::super::Failure;
use super::super::workspace::cargo;
use super::Step;
use crate::child::{self, Bounds, Limits};

/// How the lints are told of the cfg.
pub(super) const LINTS: &str = "\
[lints.rust]
unexpected_cfgs = { level = \"warn\", check-cfg = [\"cfg(racelog)\"] }
";

/// What is said of racelog by itself, to tell it from a crate of the same name.
const SELF_DESCRIPTION: &str = "for the race predictor racelog";

/// How long the registry may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is to be done, and whether the lints will know of the cfg. The dependency is
/// [`dependency_lines`].
pub(super) fn plan(
    path: PathBuf,
    text: &str,
    dependency_lines: impl FnOnce() -> String,
) -> Result<(Vec<Step>, bool), Failure> {
    let table: Table = text.parse().map_err(|error| Failure::of(path.display(), error))?;
    let target = table.get("target").and_then(|target| target.get("cfg(racelog)"));
    let dependency = target.and_then(|target| target.get("dependencies"));
    let dependency = match dependency.map(|dependencies| dependencies.get("racelog").is_some()) {
        Some(true) => Step::Done(path.clone(), "has the dependency"),
        Some(false) => Step::ByHand(
            path.clone(),
            "add racelog to `[target.'cfg(racelog)'.dependencies]`".to_owned(),
            dependency_lines(),
        ),
        None => append(&path, text, dependency_lines()),
    };
    let after = match &dependency {
        Step::Append(_, lines) => format!("{text}\n{lines}"),
        _ => text.to_owned(),
    };
    let lints = table.get("lints");
    let by_workspace = lints.and_then(|lints| lints.get("workspace")).and_then(Value::as_bool);
    let rust = lints.and_then(|lints| lints.get("rust"));
    let knows = rust.is_some_and(|rust| format!("{rust:?}").contains("cfg(racelog)"));
    let by_hand = |what: &str| Step::ByHand(path.clone(), what.to_owned(), LINTS.to_owned());
    let lints = match lints {
        Some(_) if knows => Step::Done(path, "knows the cfg"),
        Some(_) if by_workspace == Some(true) => {
            by_hand("tell the lints of the workspace of `cfg(racelog)`, as below")
        }
        Some(_) if rust.is_some() => by_hand("tell the lints of `cfg(racelog)`, as below"),
        _ => append(&path, &after, LINTS.to_owned()),
    };
    let told = matches!(lints, Step::Done(..) | Step::Append(..));
    Ok((vec![dependency, lints], told))
}

/// Lines for the end of the manifest; by hand, if they would make another manifest of it.
fn append(path: &Path, text: &str, lines: String) -> Step {
    let path = path.to_owned();
    match format!("{text}\n{lines}").parse::<Table>() {
        Ok(_) => Step::Append(path, lines),
        Err(_) => {
            Step::ByHand(path, "add what is below, in the way it is written".to_owned(), lines)
        }
    }
}

/// The dependency: a version, once the registry has one like this; until then the sources that this
/// program was built from.
pub(super) fn dependency_lines() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let minor = version.rsplit_once('.').map_or(version, |(minor, _)| minor);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(|root| root.join("racelog"));
    let sources = sources.filter(|folder| folder.join("Cargo.toml").is_file());
    let (comment, which) = match sources {
        Some(folder) if !is_published(version) => (
            "# A path on this machine: racelog is not in the registry. Once it is, this is its version.\n",
            format!("path = {}", serde_json::Value::from(folder.to_string_lossy().into_owned())),
        ),
        _ => ("", format!("version = \"{minor}\"")),
    };
    format!(
        "[target.'cfg(racelog)'.dependencies]\n{comment}racelog = {{ {which}, features = [\"record\"] }}\n"
    )
}

/// Whether cargo can have this version of racelog, and no other crate of that name, from the
/// registry. If it cannot be asked, it is not known to be there.
fn is_published(version: &str) -> bool {
    let mut command = Command::new(cargo());
    // Not in the folder of a workspace, whose own racelog would be found.
    command.args(["info", "--quiet", "--color", "never", "--registry", "crates-io"]);
    command.arg(format!("racelog@{version}")).current_dir(std::env::temp_dir());
    let limits = Limits { time: Some(PATIENCE), own_group: true, ..Limits::default() };
    let answer = child::run_captured(&mut command, &limits, Bounds::default());
    answer.is_ok_and(|answer| {
        let said = String::from_utf8_lossy(&answer.stdout.bytes).into_owned();
        answer.end.is_success() && said.contains(SELF_DESCRIPTION)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> (Vec<&'static str>, bool) {
        let lines = "[target.'cfg(racelog)'.dependencies]\nracelog = \"0.1\"\n".to_owned();
        let (steps, told) = plan(PathBuf::from("Cargo.toml"), text, || lines).expect("it is TOML");
        let kind = |step: &Step| match step {
            Step::Append(..) => "append",
            Step::ByHand(..) => "by hand",
            Step::Done(..) => "done",
            _ => "other",
        };
        (steps.iter().map(kind).collect(), told)
    }

    #[test]
    fn what_can_be_added_is_and_nothing_else_is_touched() {
        let package = "[package]\nname = \"a\"\n";
        assert_eq!(kinds(package), (vec!["append", "append"], true));
        let with = |more: &str| kinds(&format!("{package}{more}"));
        assert_eq!(with("[lints.clippy]\nall = \"warn\"\n"), (vec!["append", "append"], true));
        assert_eq!(with("[lints]\nworkspace = true\n"), (vec!["append", "by hand"], false));
        assert_eq!(with("[lints.rust]\nx = \"warn\"\n"), (vec!["append", "by hand"], false));
        // What is written in one line cannot be added to at the end.
        assert_eq!(kinds("lints = { clippy = {} }\n[package]\n").0[1], "by hand");
        assert_eq!(kinds("target = {}\n[package]\n").0[0], "by hand");
    }
}
