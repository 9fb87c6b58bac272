//! Text that fits: widths as terminals have them, breaking, cutting, and nothing that moves the
//! cursor.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many columns a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Whether terminals, and other readers, would do something with a character instead of showing it:
/// a control character, one that changes the direction of writing, or one that ends the line.
pub(crate) fn acts_on_terminals(c: char) -> bool {
    let turns = matches!(c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || matches!(c, '\u{2028}' | '\u{2029}') || c.is_control()
}

/// The text without what terminals would act upon.
pub(crate) fn harmless(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => harmless.push(' '),
            _ if acts_on_terminals(c) => harmless.extend(c.escape_default()),
            _ => harmless.push(c),
        }
    }
    harmless
}

/// The text in so many columns at most. What is cut off is the end.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut short = first(text, columns.saturating_sub(1)).to_owned();
    short.push_str(if columns > 0 { "…" } else { "" });
    short
}

/// The text in so many columns at most. What is cut off is the middle: of paths and of names of
/// tests both ends matter.
pub(super) fn cut_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let head = first(text, room / 3);
    let mut tail = text.len();
    let mut left = room - width(head);
    for (at, c) in text.char_indices().rev() {
        match left.checked_sub(c.width().unwrap_or(0)) {
            Some(rest) => (left, tail) = (rest, at),
            None => break,
        }
    }
    let dots = if columns > 0 { "…" } else { "" };
    format!("{head}{dots}{}", &text[tail..])
}

/// As much of a text's beginning as fits.
fn first(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

/// The lines of a text that is broken between words. A word that is too long for a line is cut in
/// the middle.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(10);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let word = cut_middle(word, columns);
        let last = lines.last_mut().expect("there is one");
        if last.is_empty() {
            *last = word;
        } else if width(last) + 1 + width(&word) <= columns {
            last.push(' ');
            last.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

/// The text in exactly so many columns.
pub(super) fn padded(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let blanks = columns - width(&text);
    format!("{text}{}", " ".repeat(blanks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_but_text() {
        assert_eq!(harmless("a\u{1b}[31mb\u{7}\n\tc"), "a\\u{1b}[31mb\\u{7}\\n c");
        assert_eq!(harmless("\u{202e}x"), "\\u{202e}x");
    }

    #[test]
    fn what_is_cut_fits() {
        for text in ["", "a", "src/lib.rs:12:3", "日本語のパス/ファイル.rs", "\u{301}e\u{301}"]
        {
            for columns in 0..20 {
                assert!(width(&cut(text, columns)) <= columns, "{text} {columns}");
                assert!(width(&cut_middle(text, columns)) <= columns, "{text} {columns}");
                assert_eq!(width(&padded(text, columns)), columns, "{text} {columns}");
            }
        }
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut_middle("tests/some/where.rs", 12), "tes…where.rs");
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrap("hold one common lock", 10), ["hold one", "common", "lock"]);
        assert_eq!(wrap("a0123456789/b", 10), ["a01…6789/b"]);
        assert_eq!(wrap("", 10), [""]);
    }
}
