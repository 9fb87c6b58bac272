//! Suppressions in the comments of the source.

use super::{Code, Place, Suppression};

/// What starts a suppression in a comment.
const MARK: &str = "racelog: allow(";

/// A comment that should be a suppression, and is none: where, and what is wrong.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct NoSuppression {
    place: Place,
    problem: String,
}

/// The suppressions that stand in the comments of a source file, as
/// `// racelog: allow(RL001) the counter is only a hint`: for the accesses of their line or, where
/// they stand alone, of the next line of code.
pub fn suppressions_in(file: &str, text: &str) -> Result<Vec<Suppression>, NoSuppression> {
    // Nearly all files have none.
    if !text.contains(MARK) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut waiting: Vec<Suppression> = Vec::new();
    for (line, number) in lines(text).into_iter().zip(1..) {
        let place = Place { file: file.to_owned(), line: number, column: 0 };
        if line.has_code {
            found.extend(waiting.drain(..).map(|mut one| {
                one.place = Some(place.clone());
                one
            }));
        }
        let comment = line.comment.trim_start_matches(['/', '!']).trim();
        let Some(rest) = comment.strip_prefix(MARK) else { continue };
        let problem = |problem: String| NoSuppression { place: place.clone(), problem };
        let (codes, reason) = rest.split_once(')').ok_or_else(|| {
            problem("the suppression has no `)`: write `racelog: allow(RL001) reason`".to_owned())
        })?;
        let reason = reason.trim_start_matches([':', ' ', '-']).trim();
        if reason.is_empty() {
            let words = "the suppression says no reason: write `racelog: allow(RL001) reason`";
            return Err(problem(words.to_owned()));
        }
        for name in codes.split(',').map(str::trim) {
            let code = Code::ALL.into_iter().find(|code| code.name() == name);
            let code = code.ok_or_else(|| problem(format!("there is no code `{name}`")))?;
            let one = Suppression {
                code: Some(code),
                place: Some(place.clone()),
                variable: None,
                reason: reason.to_owned(),
                by: format!("{place} (allow {name})"),
            };
            if line.has_code { found.push(one) } else { waiting.push(one) }
        }
    }
    found.extend(waiting);
    Ok(found)
}

/// A line of source.
#[derive(Clone, Copy, Default)]
struct Line<'a> {
    has_code: bool,
    /// What follows `//`, if that is no part of a string.
    comment: &'a str,
}

/// Where we are between two characters of a source file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Code,
    /// In this many comments within each other.
    Comment(usize),
    Text,
    /// In a raw string that ends with so many `#`.
    RawText(usize),
}

/// The lines of a source file: just enough of Rust's grammar to know what is a comment.
fn lines(text: &str) -> Vec<Line<'_>> {
    let mut within = Within::Code;
    text.lines().map(|line| look(line, &mut within)).collect()
}

fn look<'a>(line: &'a str, within: &mut Within) -> Line<'a> {
    let mut found = Line::default();
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        let mut skip = next.len_utf8();
        match *within {
            Within::Comment(depth) if rest.starts_with("*/") => {
                *within = if depth > 1 { Within::Comment(depth - 1) } else { Within::Code };
                skip = 2;
            }
            Within::Comment(depth) if rest.starts_with("/*") => {
                *within = Within::Comment(depth + 1);
                skip = 2;
            }
            Within::Comment(_) => {}
            Within::Text => match next {
                '"' => *within = Within::Code,
                '\\' => skip += rest[skip..].chars().next().map_or(0, char::len_utf8),
                _ => {}
            },
            Within::RawText(hashes) => {
                let end = rest.strip_prefix('"');
                if end.is_some_and(|end| {
                    end.bytes().take(hashes).filter(|b| *b == b'#').count() == hashes
                }) {
                    *within = Within::Code;
                    skip += hashes;
                }
            }
            Within::Code if rest.starts_with("//") => {
                found.comment = &rest[2..];
                return found;
            }
            Within::Code if rest.starts_with("/*") => {
                *within = Within::Comment(1);
                skip = 2;
            }
            Within::Code => {
                found.has_code |= !next.is_whitespace();
                skip = token(rest, within);
            }
        }
        rest = &rest[skip..];
    }
    found.has_code |= matches!(within, Within::Text | Within::RawText(_));
    found
}

/// How many bytes of code belong together; notices where a string starts.
fn token(rest: &str, within: &mut Within) -> usize {
    let raw = rest.strip_prefix('r').map(|rest| (rest, rest.trim_start_matches('#')));
    if let Some((after, quote)) = raw.filter(|(_, quote)| quote.starts_with('"')) {
        let hashes = after.len() - quote.len();
        *within = Within::RawText(hashes);
        return 1 + hashes + 1;
    }
    let mut chars = rest.chars();
    match chars.next() {
        Some('"') => {
            *within = Within::Text;
            1
        }
        // A character, as opposed to a lifetime.
        Some('\'') => match (chars.next(), chars.next()) {
            (Some('\\'), Some(escaped)) => 2 + escaped.len_utf8(),
            (Some(one), Some('\'')) => 2 + one.len_utf8(),
            _ => 1,
        },
        // A name is skipped as a whole: an `r` at its end starts no string.
        Some(first) if first.is_alphanumeric() || first == '_' => {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        }
        Some(other) => other.len_utf8(),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_suppress_their_line_or_the_next() {
        let text = "a.get(); // racelog: allow(RL001) a hint\n\
                    // racelog: allow(RL001, RL002): both\n\n// more\nb.set(1);\n";
        let found = suppressions_in("src/a.rs", text).unwrap();
        let lines: Vec<_> = found
            .iter()
            .map(|s| (s.code.unwrap().name(), s.place.as_ref().unwrap().line, s.reason.as_str()))
            .collect();
        assert_eq!(lines, [("RL001", 1, "a hint"), ("RL001", 5, "both"), ("RL002", 5, "both")]);
    }

    #[test]
    fn comments_need_code_and_reason() {
        for text in ["// racelog: allow(RL001)", "// racelog: allow(RL9) x", "// racelog: allow(RL"]
        {
            assert!(suppressions_in("a.rs", text).is_err(), "{text}");
        }
        assert_eq!(suppressions_in("a.rs", "// racelog is fine"), Ok(Vec::new()));
    }

    #[test]
    fn strings_are_no_comments() {
        for text in [
            "let s = \"// racelog: allow(RL001)\";",
            "let s = \"a\n// racelog: allow(RL001)\n\";",
            "let s = r#\"\"// racelog: allow(RL001)\"#;",
            "let s = r#\"\n// racelog: allow(RL001)\n\"#;",
            "/* // racelog: allow(RL001) */",
            "let s = b\"\\\"// racelog: allow(RL001)\";",
        ] {
            assert_eq!(suppressions_in("a.rs", text), Ok(Vec::new()), "{text}");
        }
        for text in
            ["let c = '\"'; // racelog: allow(RL001) x", "fn f<'a>() {} // racelog: allow(RL001) x"]
        {
            assert_eq!(suppressions_in("a.rs", text).unwrap().len(), 1, "{text}");
        }
    }
}
