//! What may be a name.
//!
//! Every string of a trace can be written in the text format as it stands, so that conversion
//! between text and binary loses nothing. The format separates fields by blanks and starts
//! comments with `#`: strings that would be torn apart there have no place in a trace, and a
//! recorder must replace such characters first.

/// Whether `text` is a word: not empty, without blanks, control characters or `#`, and not a lone
/// `@`, which starts a location.
///
/// Names of threads and objects and the symbols among the values are words.
pub fn is_word(text: &str) -> bool {
    let fits = |c: char| !c.is_whitespace() && !c.is_control() && c != '#';
    !text.is_empty() && text != "@" && text.chars().all(fits)
}

/// Whether `text` is words with one blank between them: the text of an assertion, or a file.
pub fn is_text(text: &str) -> bool {
    text.split(' ').all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_no_blank_and_no_comment_sign() {
        assert!(is_word("x"));
        assert!(is_word("a.b[0]"));
        assert!(is_word("größe"));
        for bad in ["", "@", "a b", "a#b", "a\tb", "a\nb", "a\u{a0}b"] {
            assert!(!is_word(bad), "{bad:?}");
        }
    }

    #[test]
    fn texts_are_words_with_single_blanks() {
        assert!(is_text("sum is 3"));
        assert!(is_text("my file.rs"));
        for bad in ["", " file.rs", "sum  is", "at @ home"] {
            assert!(!is_text(bad), "{bad:?}");
        }
    }
}
