//! Findings that do not count: suppressed for a reason, or known from before.

use std::collections::HashSet;

use super::{Code, Finding, Place, Project, Sources, Suppressed, expression};

/// Says of some findings that they do not count, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suppression {
    /// Only those of this code.
    pub code: Option<Code>,
    /// Only those with an access at a place: a file, which may have `*` in its name, and perhaps a
    /// line.
    pub place: Option<Place>,
    /// Only those of a variable of this name.
    pub variable: Option<String>,
    /// Why.
    pub reason: String,
    /// Where this is said.
    pub by: String,
}

impl Suppression {
    fn fits(&self, finding: &Finding, sources: &impl Sources) -> bool {
        let sides = || finding.sides.iter().filter_map(|side| side.place.as_ref());
        self.code.is_none_or(|code| code == finding.code)
            && self.place.as_ref().is_none_or(|place| sides().any(|at| covers(place, at)))
            && self.variable.as_ref().is_none_or(|name| finding.is_of(name, sources))
    }
}

impl Finding {
    /// Whether the variable has this name, in the source or in a trace.
    fn is_of(&self, name: &str, sources: &impl Sources) -> bool {
        let in_source = |place: &Place| {
            let text = sources.read(&place.file)?;
            expression::at(&text, place)?.name
        };
        let mut places = self.sides.iter().filter_map(|side| side.place.as_ref());
        places.any(|place| in_source(place).is_some_and(|found| found == name))
            || self.occurrences.iter().any(|occurrence| occurrence.variable.name == name)
    }
}

/// Whether a place is the one that is meant.
fn covers(meant: &Place, place: &Place) -> bool {
    let same = |meant: u32, is: u32| meant == 0 || meant == is;
    same(meant.line, place.line)
        && same(meant.column, place.column)
        && matches(&meant.file, &place.file)
}

/// Whether a pattern, in which `*` stands for anything, fits a text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    let has_star = parts.peek().is_some();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    has_star || rest.is_empty()
}

impl Project {
    /// Marks the findings that do not count, and names the suppressions that fit none.
    pub fn suppress(&mut self, suppressions: &[Suppression], sources: &impl Sources) {
        let mut used = vec![false; suppressions.len()];
        for finding in &mut self.findings {
            finding.suppressed = None;
            for (suppression, used) in suppressions.iter().zip(&mut used) {
                if suppression.fits(finding, sources) {
                    *used = true;
                    finding.suppressed.get_or_insert_with(|| Suppressed {
                        reason: suppression.reason.clone(),
                        by: suppression.by.clone(),
                    });
                }
            }
        }
        let unused = suppressions.iter().zip(used).filter(|(_, used)| !used);
        self.unused_suppressions = unused.map(|(suppression, _)| suppression.by.clone()).collect();
    }

    /// Marks the findings that another report has as well.
    pub fn compare(&mut self, baseline: &Self) {
        let known: HashSet<&str> =
            baseline.findings.iter().map(|finding| finding.fingerprint.as_str()).collect();
        for finding in &mut self.findings {
            finding.known = known.contains(finding.fingerprint.as_str());
        }
    }
}

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
    let mut found = Vec::new();
    let mut waiting: Vec<Suppression> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let place = Place { file: file.to_owned(), line: number, column: 0 };
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        let comment = comment.trim_start_matches('/').trim();
        let is_code = !code.trim().is_empty();
        if is_code {
            found.extend(waiting.drain(..).map(|mut one| {
                one.place = Some(place.clone());
                one
            }));
        }
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
            if is_code { found.push(one) } else { waiting.push(one) }
        }
    }
    found.extend(waiting);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit() {
        for (pattern, text, fits) in [
            ("src/a.rs", "src/a.rs", true),
            ("src/a.rs", "src/ab.rs", false),
            ("src/*", "src/x/y.rs", true),
            ("*/y.rs", "src/x/y.rs", true),
            ("src/*/y.rs", "src/x/y.rs", true),
            ("src/*/z.rs", "src/x/y.rs", false),
            ("*", "anything", true),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }

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
}
