//! What the environment asks for.

use std::env;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::control;
use super::message::say;
use crate::contract::environment::{RECORD_ON, Variable};

/// The recorder's settings, read once.
#[derive(Debug)]
pub(in crate::rt) struct Config {
    /// `RACELOG=1`: record.
    pub(in crate::rt) on: bool,
    /// `RACELOG_DIR`: where the traces go.
    pub(in crate::rt) folder: PathBuf,
    /// `RACELOG_MAX_BYTES`: how large a trace may become. Unlimited recordings of programs that do
    /// not end fill the disk.
    pub(in crate::rt) max_bytes: u64,
}

pub(in crate::rt) fn config() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(|| {
        let max_bytes = env::var(Variable::MaxBytes).ok();
        Config {
            // What is replayed is compared with its schedule as the recorder sees it.
            on: env::var_os(Variable::Record).is_some_and(|value| value == RECORD_ON)
                || control::follows_schedule(),
            folder: env::var_os(Variable::Folder)
                .map_or_else(|| PathBuf::from("target/racelog"), PathBuf::from),
            max_bytes: max_bytes.and_then(|text| parse_size(&text)).unwrap_or(USUAL_MAX_BYTES),
        }
    })
}

/// How large a trace may become if nothing is said of that.
const USUAL_MAX_BYTES: u64 = 256 << 20;

/// What is said for as large as there is room.
const UNLIMITED: &str = "none";

/// A number of bytes, with `k`, `m` or `g` for the powers of 1024. What cannot be read is said.
fn parse_size(text: &str) -> Option<u64> {
    if text == UNLIMITED {
        return Some(u64::MAX);
    }
    let (digits, unit) = match text.to_ascii_lowercase().strip_suffix(['k', 'm', 'g']) {
        Some(_) => text.split_at(text.len() - 1),
        None => (text, ""),
    };
    let factor: u64 = match unit {
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        _ => 1,
    };
    let size = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    if size.is_none() {
        say(format_args!(
            "{}: `{text}` is no size: write 100m, or {UNLIMITED}",
            Variable::MaxBytes
        ));
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("100"), Some(100));
        assert_eq!(parse_size("2k"), Some(2048));
        assert_eq!(parse_size("3M"), Some(3 << 20));
        assert_eq!(parse_size("1g"), Some(1 << 30));
        assert_eq!(parse_size("none"), Some(u64::MAX));
        assert_eq!(parse_size("many"), None);
        assert_eq!(parse_size(""), None);
    }
}
