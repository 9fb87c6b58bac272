//! Reports for people and machines, made from a [`Project`](crate::project::Project), from the
//! source of the program, as far as that is there, and, where orders of events are drawn, from
//! loaded traces.
//!
//! A format a file. All formats say the same: `story` has the words, `names` the names of objects
//! in the source, `advice` the advice, `unseen` the parts of the program that were not recorded.
//! docs/REPORT.md describes the formats.

mod advice;
mod explain;
mod github;
pub mod html;
mod junit;
mod names;
pub mod perfetto;
mod replay;
mod sarif;
mod story;
mod text;
pub mod timeline;
mod unseen;

pub use self::explain::explain;
pub use self::github::to_github;
pub use self::junit::to_junit;
pub use self::replay::{replay_lines, write_replay};
pub use self::sarif::to_sarif;
pub use self::text::{Detail, TextOptions, write_text};
pub(crate) use self::text::{acts_on_terminals, harmless};

use crate::finding::Kind;
use crate::report::thousands;

/// The number of things, and the word for them: `1 race`, `2 races`.
fn count(number: impl Into<u64>, one: &str) -> String {
    let number = number.into();
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {one}{plural}", thousands(number))
}

/// How many findings there are of these kinds, in words: `2 races`.
fn counted<'a>(kinds: impl IntoIterator<Item = &'a Kind>) -> String {
    let nouns = Kind::nouns(kinds);
    let words: Vec<String> = nouns.into_iter().map(|(noun, number)| count(number, noun)).collect();
    list(&words)
}

/// The items with commas, and `and` before the last.
fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(count(1_u64, "race"), "1 race");
        assert_eq!(count(1_234_567_u64, "event"), "1,234,567 events");
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(100), "100");
    }

    #[test]
    fn lists_end_in_and() {
        let list =
            |items: &[&str]| list(&items.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(list(&[]), "");
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }
}
