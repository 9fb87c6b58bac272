//! The fields of a line.

/// Splits a line at blanks and knows where it is.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { line, at: 0 }
    }

    /// The column, from 1, at which the next field starts, or the line ends.
    pub(super) fn column(&self) -> usize {
        let rest = &self.line[self.at..];
        self.at + rest.len() - rest.trim_start_matches(is_blank).len() + 1
    }

    /// The column, from 1, just after the last field.
    pub(super) fn end_column(&self) -> usize {
        self.at + 1
    }

    /// Takes so many bytes of what is left, after the blanks before it.
    pub(super) fn skip_bytes(&mut self, count: usize) {
        self.at = (self.column() - 1 + count).min(self.line.len());
    }

    /// All that is left, without the blanks around it.
    pub(super) fn rest(&self) -> &'a str {
        self.line[self.at..].trim_matches(is_blank)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let start = self.column() - 1;
        let rest = &self.line[start..];
        if rest.is_empty() {
            return None;
        }
        let len = rest.find(is_blank).unwrap_or(rest.len());
        self.at = start + len;
        Some(&rest[..len])
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_know_their_columns() {
        let mut fields = Fields::new("  t1\tread   x ");
        assert_eq!((fields.column(), fields.next()), (3, Some("t1")));
        assert_eq!((fields.column(), fields.next()), (6, Some("read")));
        assert_eq!((fields.rest(), fields.column(), fields.next()), ("x", 13, Some("x")));
        assert_eq!((fields.rest(), fields.column(), fields.next()), ("", 15, None));
    }
}
