//! Changes to a text, by the places of its tokens.

use std::ops::Range;

/// Changes that do not overlap.
#[derive(Default)]
pub(super) struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// Puts a text in the place of what is there.
    pub(super) fn replace(&mut self, place: Range<usize>, text: impl Into<String>) {
        self.0.push((place, text.into()));
    }

    /// The text with all changes made.
    pub(super) fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(place, _)| place.start);
        let (mut changed, mut at) = (String::with_capacity(text.len()), 0);
        for (place, replacement) in self.0 {
            changed.push_str(&text[at..place.start]);
            changed.push_str(&replacement);
            at = place.end;
        }
        changed.push_str(&text[at..]);
        changed
    }
}
