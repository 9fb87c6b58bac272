//! Golden files: every version of the format that was ever written can be read, and the current
//! one is written as it was.
//!
//! A change of format needs a new version and a new folder. To write the files of the current
//! version anew, set `RACELOG_BLESS=1`.

use std::fs;
use std::path::Path;

use predictor::trace::format::Format;

use crate::support::{convert, repository};

fn text_of(folder: &Path) -> String {
    fs::read_to_string(folder.join("every-operation.rtxt")).unwrap()
}

fn read(golden: &[u8]) -> String {
    String::from_utf8(convert(golden, Format::Binary, Format::Text)).unwrap()
}

#[test]
fn earlier_versions_are_read_as_ever() {
    for version in ["v1", "v2"] {
        let folder = repository().join("tests/golden").join(version);
        let golden = fs::read(folder.join("every-operation.rlog")).unwrap();
        assert_eq!(read(&golden), text_of(&folder), "{version}");
    }
}

#[test]
fn version_3_is_read_and_written_as_ever() {
    let folder = repository().join("tests/golden/v3");
    let text = text_of(&folder);
    let path = folder.join("every-operation.rlog");
    let written = convert(text.as_bytes(), Format::Text, Format::Binary);
    if std::env::var_os("RACELOG_BLESS").is_some() {
        fs::write(&path, &written).unwrap();
    }
    let golden = fs::read(&path).unwrap();
    assert_eq!(read(&golden), text);
    assert!(written == golden, "the same events are written as other bytes");
}

/// No writer but a recorder says which variable a lock's poison flag is: readers add what that means.
#[test]
fn what_a_recorder_leaves_to_be_added_is_added() {
    let folder = repository().join("tests/golden/v3");
    let golden = fs::read(folder.join("poisoned.rlog")).unwrap();
    let text = fs::read_to_string(folder.join("poisoned.rtxt")).unwrap();
    assert_eq!(read(&golden), text);
    let written = convert(text.as_bytes(), Format::Text, Format::Binary);
    assert_eq!(read(&written), text);
}
