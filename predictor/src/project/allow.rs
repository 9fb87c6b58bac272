//! Suppressions in the comments of the source.

use super::Suppression;
use crate::finding::{Kind, Place};

/// What starts a suppression in a comment, before `allow(`.
const MARK: &str = "racelog:";

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
///
/// A comment that should be one and is none, suppresses nothing; the others do all the same.
pub fn suppressions_in(file: &str, text: &str) -> (Vec<Suppression>, Vec<NoSuppression>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    // Nearly all files have none.
    if !text.contains(MARK) {
        return (found, problems);
    }
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
        let mut problem = |problem: String| {
            problems.push(NoSuppression { place: place.clone(), problem });
        };
        let (codes, reason) = match parse(comment) {
            Ok(Some(parts)) => parts,
            Ok(None) => continue,
            Err(text) => {
                problem(text);
                continue;
            }
        };
        for name in codes.split(',').map(str::trim) {
            let Some(kind) = Kind::of_code(name) else {
                problem(unknown(name));
                continue;
            };
            let one = Suppression {
                kind: Some(kind),
                place: Some(place.clone()),
                variable: None,
                reason: reason.to_owned(),
                by: format!("{place} (allow {name})"),
            };
            if line.has_code { found.push(one) } else { waiting.push(one) }
        }
    }
    found.extend(waiting);
    (found, problems)
}

/// The codes and the reason that a comment names, if it is there to suppress something.
fn parse(comment: &str) -> Result<Option<(&str, &str)>, String> {
    const FORM: &str = "write `racelog: allow(RL001) reason`";
    let Some(rest) = comment.strip_prefix(MARK).map(str::trim_start) else { return Ok(None) };
    let word = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    if word != "allow" {
        // Others are remarks about racelog.
        let meant = strsim::damerau_levenshtein(&word.to_lowercase(), "allow") <= 2
            && rest[word.len()..].trim_start().starts_with('(');
        return if meant { Err(format!("`{word}` suppresses nothing: {FORM}")) } else { Ok(None) };
    }
    let Some(rest) = rest["allow".len()..].trim_start().strip_prefix('(') else { return Ok(None) };
    let (codes, reason) =
        rest.split_once(')').ok_or_else(|| format!("the suppression has no `)`: {FORM}"))?;
    let reason = reason.trim_start_matches([':', ' ', '-']).trim();
    if reason.is_empty() {
        return Err(format!("the suppression says no reason: {FORM}"));
    }
    Ok(Some((codes, reason)))
}

/// What to say of a code that there is none of.
fn unknown(name: &str) -> String {
    let names: Vec<&str> = Kind::KNOWN.iter().map(Kind::code).collect();
    let near = names.iter().min_by_key(|code| strsim::levenshtein(code, &name.to_uppercase()));
    let near = near.filter(|code| strsim::levenshtein(code, &name.to_uppercase()) <= 2);
    let names = names.join(", ");
    match near {
        Some(near) => {
            format!("there is no code `{name}`, so this suppresses nothing: did you mean `{near}`?")
        }
        None => format!("there is no code `{name}`, so this suppresses nothing: there are {names}"),
    }
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
        let (found, problems) = suppressions_in("src/a.rs", text);
        assert_eq!(problems, []);
        let lines: Vec<_> = found
            .iter()
            .map(|s| {
                (s.kind.as_ref().unwrap().code(), s.place.as_ref().unwrap().line, s.reason.as_str())
            })
            .collect();
        assert_eq!(lines, [("RL001", 1, "a hint"), ("RL001", 5, "both"), ("RL002", 5, "both")]);
    }

    #[test]
    fn comments_need_code_and_reason() {
        for (text, problem) in [
            ("// racelog: allow(RL001)", "a.rs:1: the suppression says no reason"),
            ("// racelog: allow(RL1) x", "no code `RL1`, so this suppresses nothing: did you mean"),
            ("// racelog: allow(races) x", "nothing: there are RL001, RL002, RL003"),
            ("// racelog: allow(RL", "a.rs:1: the suppression has no `)`"),
            ("// racelog: alow(RL001) x", "a.rs:1: `alow` suppresses nothing: write"),
        ] {
            let (found, problems) = suppressions_in("a.rs", text);
            assert_eq!((found.len(), problems.len()), (0, 1), "{text}");
            assert!(problems[0].to_string().contains(problem), "{}", problems[0]);
        }
        for text in ["// racelog is fine", "// racelog: see allow", "// racelog: f(x) is slow"] {
            assert_eq!(suppressions_in("a.rs", text), (Vec::new(), Vec::new()));
        }
    }

    #[test]
    fn one_that_is_wrong_does_not_lose_the_others() {
        let text = "a(); // racelog: allow(RL1, RL002) x\nb(); // racelog:allow (RL001) y\n";
        let (found, problems) = suppressions_in("a.rs", text);
        assert_eq!((found.len(), problems.len()), (2, 1));
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
            assert_eq!(suppressions_in("a.rs", text), (Vec::new(), Vec::new()), "{text}");
        }
        for text in
            ["let c = '\"'; // racelog: allow(RL001) x", "fn f<'a>() {} // racelog: allow(RL001) x"]
        {
            assert_eq!(suppressions_in("a.rs", text).0.len(), 1, "{text}");
        }
    }
}
