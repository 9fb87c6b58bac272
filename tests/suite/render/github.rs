//! Annotations of GitHub Actions.

use predictor::project::NoSources;
use predictor::render::to_github;

use super::{Files, check_golden, full_project, project_of};

/// The properties and the message of a command, as the runner reads them.
pub(super) fn parse(line: &str) -> (Vec<(String, String)>, String) {
    let rest = line.strip_prefix("::").expect("a command starts so");
    let (head, message) = rest.split_once("::").expect("the message comes after the head");
    let (level, properties) = head.split_once(' ').expect("there are properties");
    assert!(["error", "warning", "notice"].contains(&level), "{line}");
    let properties = properties.split(',').map(|property| {
        let (name, value) = property.split_once('=').expect("each has a value");
        assert!(["file", "line", "col", "endColumn", "title"].contains(&name), "{line}");
        (name.to_owned(), read(&read(value).replace("%3A", ":").replace("%2C", ",")))
    });
    (properties.collect(), read(message))
}

fn read(text: &str) -> String {
    text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
}

#[test]
fn it_is_what_it_was() {
    let project = full_project();
    check_golden("report.github.txt", &to_github(&project, &Files));
    assert_eq!(to_github(&project_of(|name| name.contains("one_thread")), &Files), "");
}

#[test]
fn annotations_stand_where_the_access_is() {
    let project = project_of(|name| name.contains("closed"));
    let text = to_github(&project, &Files);
    let (properties, message) = parse(text.trim_end());
    let expected = [("file", "src/lib.rs"), ("line", "49"), ("col", "9"), ("endColumn", "30")];
    let found: Vec<(&str, &str)> =
        properties.iter().take(4).map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(found, expected);
    assert!(
        message.starts_with("thread `t1` writes 1, holding `self.entries` at src/lib.rs:49:21\n")
    );
    // Without the source, the column that was recorded is all there is.
    let bare = to_github(&project, &NoSources);
    assert!(bare.starts_with("::error file=src/lib.rs,line=49,col=21,title="), "{bare}");
}
