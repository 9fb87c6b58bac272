//! Expected output that is kept in files, and the one way to write these files anew.
//!
//! A test compares what it has with a file. If they differ it fails, and says where. With
//! `RACELOG_BLESS=1` it writes the file instead. `cargo bless` runs all tests with such files in
//! this way, and says which files have changed.

use std::path::Path;
use std::{env, fs};

/// The variable of the environment that has tests write their expected files.
pub const BLESS: &str = "RACELOG_BLESS";

/// The tests that have expected files, as the suite names them.
pub const TESTS: [&str; 4] = ["analyze::", "golden::", "rejected::", "render::"];

/// The folders of the expected files.
pub const FOLDERS: [&str; 3] = ["tests/golden", "tests/rejected", "tests/reports/golden"];

/// The folder of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are a member of a workspace")
}

/// Compares a text with a file, which is named by its path in the repository.
///
/// # Panics
/// If they differ, and the file is not to be written.
pub fn check_text(path: &str, text: &str) {
    check(path, text.as_bytes(), |expected| {
        let expected = String::from_utf8_lossy(expected);
        let lines = |text| str::lines(text).map(Some).chain([None]);
        let both = lines(&expected).zip(lines(text)).zip(1..);
        let at = match { both }.find(|((expected, found), _)| expected != found) {
            Some(((expected, found), line)) => {
                let [expected, found] = [expected, found]
                    .map(|line| line.map_or_else(|| "nothing".into(), |line| format!("`{line}`")));
                format!("line {line} is {found}, expected is {expected}")
            }
            None => "only its last line ends otherwise".to_owned(),
        };
        format!("{at}\nall of it is now:\n{text}")
    });
}

/// Compares bytes with a file, which is named by its path in the repository.
///
/// # Panics
/// If they differ, and the file is not to be written.
pub fn check_bytes(path: &str, bytes: &[u8]) {
    check(path, bytes, |expected| {
        let same = bytes.iter().zip(expected).take_while(|(found, expected)| found == expected);
        let (at, found, expected) = (same.count(), bytes.len(), expected.len());
        format!("they differ from byte {at} on; {found} bytes instead of {expected}")
    });
}

fn check(path: &str, found: &[u8], difference: impl Fn(&[u8]) -> String) {
    let file = repository().join(path);
    let expected = fs::read(&file).ok();
    if expected.as_deref() == Some(found) {
        return;
    }
    if env::var_os(BLESS).is_some() {
        fs::write(&file, found).unwrap_or_else(|error| panic!("{path}: {error}"));
        return;
    }
    let difference = match expected {
        Some(expected) => difference(&expected),
        None => "there is no such file".to_owned(),
    };
    panic!("{path}: {difference}\nif that is meant, run `cargo bless` and look at what changes");
}
