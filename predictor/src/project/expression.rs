//! What stands at a place of the source.
//!
//! A recorded operation knows its caller's line and column, and a trace gives its objects numbers
//! for names. The compiler puts the column of a method call at the method's name, that of a
//! function or macro call, of a dereference and of a `static mut` at its beginning. From there this
//! finds the receiver, `self.hits` in `self.hits.set(1)`, by looking at brackets and dots: no
//! parser, so where the source is more than that it finds nothing, which costs a name and no more.

use std::ops::Range;

use crate::finding::Place;

/// How far a receiver may reach, in bytes.
const REACH: usize = 400;

/// How long a name may be, in characters.
const LENGTH: usize = 48;

/// What stands at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Expression {
    /// Where in the text it stands, all on one line: the whole call if it ends there.
    pub(crate) span: Range<usize>,
    /// The same without the arguments.
    pub(crate) callee: Range<usize>,
    /// What is operated on: the receiver of a method, what is dereferenced, or a variable.
    pub(crate) name: Option<String>,
    /// Whether it is the receiver of a method.
    pub(crate) is_receiver: bool,
}

/// What stands at a place; `None` if the text has no such line.
pub(crate) fn at(text: &str, place: &Place) -> Option<Expression> {
    let line = line_of(text, place.line)?;
    let column = usize::try_from(place.column).ok()?;
    let start = match column.checked_sub(1) {
        Some(before) => {
            text[line.clone()].char_indices().nth(before).map(|(at, _)| line.start + at)
        }
        None => None,
    };
    // An older or newer text than the one that was compiled.
    let whole = |span: Range<usize>| Expression {
        span: span.clone(),
        callee: span,
        name: None,
        is_receiver: false,
    };
    let Some(start) = start else {
        return Some(whole(trimmed(text, line)));
    };
    let found = match before_dot(text, start) {
        Some(end) => method(text, &line, start, end),
        None => plain(text, &line, start),
    };
    Some(found.unwrap_or_else(|| whole(trimmed(text, line))))
}

/// The columns of what stands at a place, in characters from 1, without the last.
pub(crate) fn columns(text: &str, place: &Place) -> Option<Range<usize>> {
    let found = at(text, place)?;
    let line = line_of(text, place.line)?;
    let column = |at: usize| text[line.start..at].chars().count() + 1;
    (found.span.start >= line.start).then(|| column(found.span.start)..column(found.span.end))
}

/// A line's place in the text, without its end.
fn line_of(text: &str, number: u32) -> Option<Range<usize>> {
    let before = usize::try_from(number).ok()?.checked_sub(1)?;
    let mut start = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        if at == before {
            let end = start + line.trim_end_matches(['\n', '\r']).len();
            return Some(start..end);
        }
        start += line.len();
    }
    None
}

fn trimmed(text: &str, line: Range<usize>) -> Range<usize> {
    let rest = text[line.clone()].trim_start();
    let start = line.end - rest.len();
    start..start + rest.trim_end().len()
}

/// Where the receiver ends, if a method's name starts here.
fn before_dot(text: &str, start: usize) -> Option<usize> {
    let before = text[..start].trim_end().strip_suffix('.')?;
    (!before.ends_with('.')).then(|| before.trim_end().len())
}

fn method(text: &str, line: &Range<usize>, start: usize, end: usize) -> Option<Expression> {
    let name_end = start + word(&text[start..line.end]);
    if name_end == start {
        return None;
    }
    let receiver = receiver_start(text, end).map(|from| from..end).filter(|receiver| {
        // What stands before the dot may be a comment.
        let line = text[..receiver.start].rfind('\n').map_or(0, |at| at + 1);
        !text[line..receiver.end].contains("//")
    });
    let first = match &receiver {
        Some(receiver) if receiver.start >= line.start => receiver.start,
        // It stands on other lines.
        _ => start,
    };
    Some(Expression {
        span: first..call_end(&text[..line.end], name_end),
        callee: first..name_end,
        name: receiver.and_then(|receiver| name(&text[receiver])),
        is_receiver: true,
    })
}

/// What is no method call.
fn plain(text: &str, line: &Range<usize>, start: usize) -> Option<Expression> {
    let rest = &text[start..line.end];
    let stars = rest.len() - rest.trim_start_matches('*').len();
    let end = start + stars + chain(&rest[stars..]);
    let callee_end = start + stars + path(&rest[stars..]);
    if end == start + stars {
        return None;
    }
    let is_macro = text[..line.end][callee_end..].starts_with('!');
    let has_path = callee_end > start + stars;
    let is_call = stars == 0 && has_path && text[..line.end][callee_end..].starts_with('(');
    if is_macro {
        let end = call_end(&text[..line.end], callee_end + 1);
        let is_access = ["read", "write"].contains(&text[start..callee_end].rsplit(':').next()?);
        let arguments = text[..line.end].get(callee_end + 2..)?;
        let argument = arguments.split([',', ')']).next().filter(|_| is_access);
        let name = argument.and_then(|argument| name(argument.trim()));
        let callee = start..callee_end + 1;
        return Some(Expression { span: start..end, callee, name, is_receiver: false });
    }
    let name = if is_call { None } else { name(&text[start..end]) };
    let callee = start..if is_call { callee_end } else { end };
    Some(Expression { span: start..end, callee, name, is_receiver: false })
}

/// How long the word is that a text starts with.
fn word(text: &str) -> usize {
    text.find(|c: char| !is_word(c)).unwrap_or(text.len())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How long the path is that a text starts with.
fn path(text: &str) -> usize {
    let mut at = word(text);
    while at > 0 && text[at..].starts_with("::") {
        match word(&text[at + 2..]) {
            0 => break,
            more => at += 2 + more,
        }
    }
    at
}

/// How long the chain of names, fields, calls and indices is that a text starts with.
fn chain(text: &str) -> usize {
    let mut at = path(text);
    loop {
        let rest = &text[at..];
        if rest.starts_with(['(', '[']) {
            match closing(rest) {
                Some(end) => at += end,
                None => return at,
            }
        } else if at > 0 && rest.starts_with('.') && word(&rest[1..]) > 0 {
            at += 1 + word(&rest[1..]);
        } else {
            return at;
        }
    }
}

/// Where a call ends whose callee ends here; there, if its arguments do not end in the text.
fn call_end(text: &str, callee_end: usize) -> usize {
    let rest = &text[callee_end..];
    match rest.starts_with(['(', '[']).then(|| closing(rest)).flatten() {
        Some(end) => callee_end + end,
        None => callee_end,
    }
}

/// Where the bracket is closed that a text starts with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + c.len_utf8());
        }
    }
    None
}

/// Where the bracket was opened that a text ends with.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        if text.len() - at > REACH {
            return None;
        }
    }
    None
}

/// Where the receiver starts that ends here.
fn receiver_start(text: &str, end: usize) -> Option<usize> {
    let mut at = end;
    loop {
        let before = &text[..at];
        let last = before.chars().next_back()?;
        if last == '?' {
            at -= 1;
            continue;
        }
        if last == ')' || last == ']' {
            at = opening(before)?;
            let callee = text[..at].chars().next_back();
            if callee.is_some_and(|c| is_word(c) || c == ')' || c == ']') {
                continue;
            }
            // In parentheses, or a macro's or a generic function's call, of which no more is
            // needed.
            return (end - at <= REACH).then_some(at);
        }
        let start = before.len()
            - before.chars().rev().take_while(|c| is_word(*c)).map(char::len_utf8).sum::<usize>();
        if start == at {
            return None;
        }
        at = start;
        let before = &text[..at];
        if let Some(rest) = before.strip_suffix("::") {
            at = rest.len();
            continue;
        }
        match before.trim_end().strip_suffix('.') {
            Some(rest) if !rest.ends_with('.') => at = rest.trim_end().len(),
            _ => return (end - at <= REACH).then_some(at),
        }
    }
}

/// The name that an expression makes: on one line, and not too long.
fn name(text: &str) -> Option<String> {
    // What is behind a comment's beginning is no code.
    if text.contains("//") || text.contains("/*") || text.is_empty() {
        return None;
    }
    let lines = text.lines().map(str::trim);
    let mut name: String = lines.collect();
    if name.chars().count() > LENGTH {
        name = without_arguments(&name);
    }
    if name.chars().count() > LENGTH {
        let last = name.rsplit_once('.')?.1;
        name = format!("….{last}");
    }
    (name.chars().count() <= LENGTH).then_some(name)
}

fn without_arguments(text: &str) -> String {
    let mut short = String::new();
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => {
                if depth == 0 {
                    short.push(c);
                }
                depth += 1;
            }
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    short.push_str(if short.ends_with(['(', '[', '{']) { "…" } else { "" });
                    short.push(c);
                }
            }
            _ if depth == 0 => short.push(c),
            _ => {}
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found at the `^` below a line: what is underlined, and the name.
    fn check(source: &str, line: u32, column: u32, span: &str, name: Option<&str>) {
        let place = Place { file: "a.rs".to_owned(), line, column };
        let found = at(source, &place).expect("the line is there");
        assert_eq!(&source[found.span.clone()], span, "{source}");
        assert_eq!(found.name.as_deref(), name, "{source}");
        assert!(found.callee.start == found.span.start && found.callee.end <= found.span.end);
    }

    #[test]
    fn methods_have_receivers() {
        check("    self.hits.set(1);", 1, 15, "self.hits.set(1)", Some("self.hits"));
        check("f(a[i + 1].load(x))", 1, 12, "a[i + 1].load(x)", Some("a[i + 1]"));
        check("x = (*p).get();", 1, 10, "(*p).get()", Some("(*p)"));
        check("self.misses\n    .set(7);", 2, 6, "set(7)", Some("self.misses"));
        check("a::B\n  .c() // why\n  .set(7);", 3, 4, "set(7)", None);
        check("s.spawn(move || {", 1, 3, "s.spawn", Some("s"));
        check("0..s.get()", 1, 6, "s.get()", Some("s"));
        check("é(ü.get())", 1, 5, "ü.get()", Some("ü"));
        check("a.b()?.c.get()", 1, 10, "a.b()?.c.get()", Some("a.b()?.c"));
    }

    #[test]
    fn others_have_a_beginning() {
        check("    *guard += 1;", 1, 5, "*guard", Some("*guard"));
        check("if on { COUNT += 1 }", 1, 9, "COUNT", Some("COUNT"));
        check("racelog::write!(COUNT, 5)", 1, 1, "racelog::write!(COUNT, 5)", Some("COUNT"));
        check("log!(COUNT)", 1, 1, "log!(COUNT)", None);
        check("thread::spawn(move || s.hit());", 1, 1, "thread::spawn(move || s.hit())", None);
        check("(*p).x = 1", 1, 1, "(*p).x", Some("(*p).x"));
    }

    #[test]
    fn another_text_than_was_compiled_gives_the_line() {
        check("  a b  ", 1, 90, "a b", None);
        check("  a b  ", 1, 0, "a b", None);
        let beyond = Place { file: "a.rs".to_owned(), line: 2, column: 1 };
        assert_eq!(at("", &beyond), None);
        assert_eq!(at("x\n", &beyond), None);
    }

    #[test]
    fn columns_count_characters() {
        let place = Place { file: "a.rs".to_owned(), line: 2, column: 5 };
        assert_eq!(columns("x\n  ü.get(é);", &place), Some(3..11));
        assert_eq!(columns("x\n  a b", &Place { column: 0, ..place }), Some(3..6));
    }

    #[test]
    fn long_names_are_shortened() {
        let long = "self.map.entry(key_of(a, b, c, d, e, f, g, h, i)).hits.set(1)";
        check(long, 1, 56, long, Some("self.map.entry(…).hits"));
    }

    /// Whatever the text and the place, nothing goes wrong.
    #[test]
    fn no_text_is_too_odd() {
        let odd =
            ["", ".", "..", ")", "(", "((.x", "a.)(b", "é.ü()", "::", "*", "a?.b", "!(", "x!("];
        for a in odd {
            for b in odd {
                let text = format!("{a}\n{b}{a}.{b}");
                for (line, column) in (0..4).flat_map(|line| (0..12).map(move |c| (line, c))) {
                    let place = Place { file: String::new(), line, column };
                    if let Some(found) = at(&text, &place) {
                        assert!(text.get(found.span).is_some() && text.get(found.callee).is_some());
                    }
                }
            }
        }
    }
}
