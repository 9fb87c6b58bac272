//! Expressions in text: read by what binds how strongly, and written with as few parentheses as
//! that allows.

use racelog::trace::expression::{Binary, Node, Unary};
use racelog::trace::{IntType, Value};

/// How strongly what has no spelling among the [operators of two](Binary) binds.
const NOT: u8 = 3;
const COMPARISON: u8 = 4;
const AS: u8 = 11;
const MINUS: u8 = 12;
const ATOM: u8 = 13;

/// How deep parentheses may be nested.
const DEEPEST: usize = 60;

/// What is wrong with an expression: where, from its start, and what was expected there.
pub(super) type Wrong = (usize, &'static str);

/// Reads an expression from the start of a text; says where it ends. `name` knows what the thread
/// has named, and how many values it has named since.
pub(super) fn parse(
    text: &str,
    name: impl Fn(&str) -> Option<u32>,
) -> Result<(Vec<Node>, usize), Wrong> {
    let mut parser = Parser { text, at: 0, nodes: Vec::new(), name, depth: 0 };
    parser.expression(0)?;
    Ok((parser.nodes, parser.at))
}

struct Parser<'a, N> {
    text: &'a str,
    at: usize,
    nodes: Vec<Node>,
    name: N,
    depth: usize,
}

/// Whether a name can stand in an expression. A dollar and a number is the name of what has none.
pub(super) fn is_name(word: &str) -> bool {
    let starts = |c: char| c.is_alphabetic() || c == '_' || c == '$';
    let keyword = matches!(word, "or" | "and" | "not" | "as" | "in" | "since" | "expect");
    word.starts_with(starts) && word.chars().all(is_of_name) && !keyword
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '.')
}

impl<N: Fn(&str) -> Option<u32>> Parser<'_, N> {
    /// The next token, and where it starts; it is empty at the end.
    fn peek(&self) -> (usize, &str) {
        let rest = self.text[self.at..].trim_start_matches([' ', '\t']);
        let start = self.text.len() - rest.len();
        let word = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        let twice = ["==", "!=", "<=", ">=", "<<", ">>", ":="];
        let len = match rest.chars().next() {
            None => 0,
            Some(_) if word > 0 => word,
            Some(_) if twice.iter().any(|sign| rest.starts_with(sign)) => 2,
            Some(c) => c.len_utf8(),
        };
        (start, &rest[..len])
    }

    fn take(&mut self, (start, token): (usize, usize)) {
        self.at = start + token;
    }

    fn next_is(&mut self, wanted: &str) -> bool {
        let (start, token) = self.peek();
        let found = token == wanted;
        if found {
            self.take((start, wanted.len()));
        }
        found
    }

    /// What binds at least as strongly as this.
    fn expression(&mut self, least: u8) -> Result<(), Wrong> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err((self.at, "an expression that is not nested so deep"));
        }
        self.operand(least)?;
        loop {
            let (start, token) = self.peek();
            if token == "as" && least <= AS {
                // Otherwise a text follows.
                let Some(int) = self.type_after(start + token.len()) else { break };
                self.nodes.push(Node::Unary(Unary::As(int)));
            } else if token == "in" && least <= COMPARISON {
                let after = start + token.len();
                let int = self.type_after(after).ok_or((after, "a type after `in`"))?;
                self.nodes.push(Node::Unary(Unary::In(int)));
            } else if let Some(op) = Binary::parse(token).filter(|op| op.strength() >= least) {
                self.take((start, token.len()));
                self.expression(op.strength() + 1)?;
                self.nodes.push(Node::Binary(op));
            } else {
                break;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Takes a type that follows, if one does.
    fn type_after(&mut self, at: usize) -> Option<IntType> {
        let before = std::mem::replace(&mut self.at, at);
        let (start, token) = self.peek();
        let (len, int) = (token.len(), IntType::parse(token));
        match int {
            Some(_) => self.take((start, len)),
            None => self.at = before,
        }
        int
    }

    fn operand(&mut self, least: u8) -> Result<(), Wrong> {
        let (start, token) = self.peek();
        let wrong = (start, "a value, a name or `(`");
        let place = (start, token.len());
        match token {
            "(" => {
                self.take(place);
                self.expression(0)?;
                if !self.next_is(")") {
                    return Err((self.peek().0, "`)`"));
                }
            }
            "not" if least <= NOT => {
                self.take(place);
                self.expression(NOT)?;
                self.nodes.push(Node::Unary(Unary::Not));
            }
            "-" => {
                self.take(place);
                let digits = self.peek().1;
                let number = Value::parse_number(&format!("-{digits}"));
                match number.filter(|_| self.peek().0 == self.at) {
                    Some(number) => {
                        let place = (self.peek().0, self.peek().1.len());
                        self.take(place);
                        self.nodes.push(Node::Value(number));
                    }
                    None => {
                        self.expression(MINUS)?;
                        self.nodes.push(Node::Unary(Unary::Minus));
                    }
                }
            }
            _ => {
                let node = match Value::parse_number(token) {
                    Some(number) => Node::Value(number),
                    None if is_name(token) => {
                        let unknown = (start, "a name that the thread has given a value before");
                        Node::Read((self.name)(token).ok_or(unknown)?)
                    }
                    None => return Err(wrong),
                };
                self.take(place);
                self.nodes.push(node);
            }
        }
        Ok(())
    }
}

/// Writes an expression. `name` gives what the thread has named, so many values back.
pub(super) fn print(nodes: &[Node], mut name: impl FnMut(u32) -> String) -> String {
    let mut stack: Vec<(String, u8)> = Vec::new();
    let wrap = |(text, strength): (String, u8), least: u8| {
        if strength >= least { text } else { format!("({text})") }
    };
    for node in nodes {
        let written = match node {
            Node::Read(back) => (name(*back), ATOM),
            Node::Value(Value::Nat(number)) => (number.to_string(), ATOM),
            Node::Value(Value::Neg(number)) => (number.to_string(), MINUS),
            Node::Value(_) => ("?".to_owned(), ATOM),
            Node::Unary(op) => {
                let operand = stack.pop().unwrap_or_default();
                match op {
                    Unary::Not => (format!("not {}", wrap(operand, NOT)), NOT),
                    // What begins with a digit would be taken for a negative number.
                    Unary::Minus => (format!("-({})", operand.0), MINUS),
                    Unary::As(int) => (format!("{} as {}", wrap(operand, AS), int.name()), AS),
                    Unary::In(int) => {
                        let operand = wrap(operand, COMPARISON + 1);
                        (format!("{operand} in {}", int.name()), COMPARISON)
                    }
                }
            }
            Node::Binary(op) => {
                let (right, left) =
                    (stack.pop().unwrap_or_default(), stack.pop().unwrap_or_default());
                let strength = op.strength();
                // Comparisons do not follow each other.
                let least = strength + u8::from(strength == COMPARISON);
                let (left, right) = (wrap(left, least), wrap(right, strength + 1));
                (format!("{left} {} {right}", op.spelling()), strength)
            }
        };
        stack.push(written);
    }
    stack.pop().map_or_else(String::new, |(text, _)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(word: &str) -> Option<u32> {
        ["z", "a", "b"].iter().position(|known| *known == word).map(|place| place as u32)
    }

    fn printed(text: &str) -> String {
        let (nodes, end) = parse(text, name).unwrap_or_else(|wrong| panic!("{text}: {wrong:?}"));
        assert_eq!(end, text.len(), "{text}");
        print(&nodes, |back| ["z", "a", "b"][back as usize].to_owned())
    }

    #[test]
    fn what_is_read_is_written_again() {
        for text in [
            "a",
            "a + 1",
            "a + b * 2 == 7 and not b < 0",
            "(a + b) * 2",
            "a - (b - 1)",
            "a - b - 1",
            "(a + 1) as u8",
            "a + 1 as u8",
            "a + 1 in i64",
            "-(a) - -5",
            "a << 3 | b & 255 ^ 1",
            "(a or b) and z",
            "(a == b) == 1",
            "not (not a)",
            "a / b % 3 >= -170141183460469231731687303715884105728",
        ] {
            let expected = if text == "not (not a)" { "not not a" } else { text };
            assert_eq!(printed(text), expected);
        }
        assert_eq!(printed("a+1"), "a + 1");
        assert_eq!(printed("-a"), "-(a)");
        assert_eq!(printed("((a))"), "a");
    }

    #[test]
    fn an_expression_ends_where_something_else_begins() {
        for (text, end) in
            [("a + 1 since 5", 5), ("a as the sum", 1), ("a @ m.rs:3", 1), ("b := 3", 1)]
        {
            assert_eq!(parse(text, name).map(|(_, end)| end), Ok(end), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, at) in
            [("", 0), ("a + ", 4), ("(a", 2), ("a + c", 4), ("a in x", 4), ("a + )", 4)]
        {
            assert_eq!(parse(text, name).map_err(|(at, _)| at), Err(at), "{text}");
        }
        assert!(parse(&"(".repeat(10_000), name).is_err());
        assert!(parse(&"not ".repeat(10_000), name).is_err());
        assert!(parse(&"- ".repeat(10_000), name).is_err());
    }
}
