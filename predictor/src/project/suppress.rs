//! Findings that do not count: suppressed for a reason, or known from before.

use std::collections::HashSet;

use super::{Project, Sources, expression};
use crate::finding::{Finding, Kind, Place, Suppressed};

/// Says of some findings that they do not count, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suppression {
    /// Only those of this kind.
    pub kind: Option<Kind>,
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
        self.kind.as_ref().is_none_or(|kind| *kind == finding.kind)
            && self.place.as_ref().is_none_or(|place| finding.places().any(|at| covers(place, at)))
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
        self.places().any(|place| in_source(place).is_some_and(|found| found == name))
            || self.occurrences.iter().any(|occurrence| occurrence.subject_name() == name)
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
}
