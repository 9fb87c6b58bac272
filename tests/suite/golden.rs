//! Golden files: every version of the format that was ever written can be read, and the current
//! one is written as it was.
//!
//! A change of format needs a new version and a new folder. To write the files of the current
//! version anew, set `RACELOG_BLESS=1`.

use std::fs;

use predictor::trace::format::Format;

use crate::support::{convert, repository};

#[test]
fn version_1_is_read_and_written_as_ever() {
    let folder = repository().join("tests/golden/v1");
    let text = fs::read(folder.join("every-operation.rtxt")).unwrap();
    let path = folder.join("every-operation.rlog");
    let written = convert(&text, Format::Text, Format::Binary);
    if std::env::var_os("RACELOG_BLESS").is_some() {
        fs::write(&path, &written).unwrap();
    }
    let golden = fs::read(&path).unwrap();
    let read = convert(&golden, Format::Binary, Format::Text);
    assert_eq!(String::from_utf8(read).unwrap(), String::from_utf8(text).unwrap());
    assert!(written == golden, "the same events are written as other bytes");
}
