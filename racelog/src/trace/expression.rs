//! What events say of where values come from: names for what was found, and expressions over them.
//!
//! An expression is a [`Shape`], which the dictionary keeps once for all events that have it, and
//! the operands of this one event. A statement that is made again and again has one shape.

use std::cmp::Ordering;
use std::sync::Arc;

use super::number::{IntType, Number};
use super::{ShapeId, Stamp, StrId, Value};

/// What is said of the next event of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// What the event finds can be named in expressions of the thread from then on, its own
    /// included. The name is for people.
    Found(Option<StrId>),
    /// What the event leaves, sends, or decides by, is this.
    Is(Formula),
    /// What a compare-exchange expects to find is this.
    Expects(Formula),
    /// The expressions of the event hold as long as all reads of the thread up to this stamp find
    /// what they found.
    Since(Stamp),
    /// Before this event the thread has made its last load, or compare-exchange that failed, so
    /// many times more. Each found the same, and nobody had written in between. A branch may have
    /// followed the first.
    Again(u64),
}

/// An expression of one event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Formula {
    /// What is computed.
    pub shape: ShapeId,
    operands: Operands,
}

/// How many operands a formula has at most.
pub const MOST_OPERANDS: usize = 10;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Operands {
    count: u8,
    list: [i64; MOST_OPERANDS],
}

impl Formula {
    /// The formula of a shape and its operands, in the order of the shape's places; `None` if these
    /// are too many. A place for a read takes how many values the thread has named since: 0 for
    /// what the event itself finds, 1 for the last one before it.
    pub fn new(shape: ShapeId, operands: &[i64]) -> Option<Self> {
        let mut list = [0; MOST_OPERANDS];
        list.get_mut(..operands.len())?.copy_from_slice(operands);
        Some(Self { shape, operands: Operands { count: operands.len() as u8, list } })
    }

    /// The operands.
    pub fn operands(&self) -> &[i64] {
        &self.operands.list[..usize::from(self.operands.count)]
    }
}

/// What an expression computes: a row of terms, each of which takes what it needs off a stack and
/// puts its result there.
pub type Shape = Arc<[Term]>;

/// A step of a computation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Term {
    /// A place for a value that the thread has named.
    Read,
    /// A place for a number.
    Number,
    /// A value.
    Constant(Value),
    /// Takes one value.
    Unary(Unary),
    /// Takes two values.
    Binary(Binary),
}

/// A term, and the operand at its place if it is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// A value that the thread has named, so many back: see [`Formula::new`].
    Read(u32),
    /// A value.
    Value(Value),
    /// Takes one value.
    Unary(Unary),
    /// Takes two values.
    Binary(Binary),
}

/// Takes an expression apart into its shape and its operands; `None` if it computes nothing or
/// takes too many values. Numbers are operands where there is room, so that statements which differ
/// in them have one shape.
pub fn take_apart(nodes: &[Node]) -> Option<(Vec<Term>, Vec<i64>)> {
    let reads = nodes.iter().filter(|node| matches!(node, Node::Read(_))).count();
    let mut numbers = MOST_OPERANDS.checked_sub(reads)?;
    let (mut shape, mut operands) = (Vec::with_capacity(nodes.len()), Vec::new());
    for node in nodes {
        shape.push(match node {
            Node::Read(back) => {
                operands.push(i64::from(*back));
                Term::Read
            }
            Node::Value(value) => match small(*value).filter(|_| numbers > 0) {
                Some(number) => {
                    operands.push(number);
                    numbers -= 1;
                    Term::Number
                }
                None => Term::Constant(*value),
            },
            Node::Unary(op) => Term::Unary(*op),
            Node::Binary(op) => Term::Binary(*op),
        });
    }
    is_whole(&shape).then_some((shape, operands))
}

/// Puts an expression together again; `None` if the operands do not fit the shape.
pub fn put_together(shape: &[Term], operands: &[i64]) -> Option<Vec<Node>> {
    let mut operands = operands.iter();
    let node = |term: &Term| {
        Some(match term {
            Term::Read => Node::Read(u32::try_from(*operands.next()?).ok()?),
            Term::Number => Node::Value(Value::int((*operands.next()?).into())),
            Term::Constant(value) => Node::Value(*value),
            Term::Unary(op) => Node::Unary(*op),
            Term::Binary(op) => Node::Binary(*op),
        })
    };
    let nodes: Option<Vec<Node>> = shape.iter().map(node).collect();
    nodes.filter(|_| operands.next().is_none())
}

fn small(value: Value) -> Option<i64> {
    match value {
        Value::Nat(number) => i64::try_from(number).ok(),
        Value::Neg(number) => i64::try_from(number).ok(),
        Value::Opaque | Value::Symbol(_) => None,
    }
}

/// Operators of one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    /// One if it is zero, else zero.
    Not,
    /// The negative.
    Minus,
    /// As a type, as `as` has it.
    As(IntType),
    /// Whether a type has it.
    In(IntType),
}

/// Operators of two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "they are what they are called")]
pub enum Binary {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    BitOr,
    BitXor,
    BitAnd,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl Binary {
    /// All of them: their spelling, and how strongly each binds. From the weakest to the strongest,
    /// as in Rust.
    pub const ALL: [(&'static str, u8, Self); 18] = [
        ("or", 1, Self::Or),
        ("and", 2, Self::And),
        ("==", 4, Self::Eq),
        ("!=", 4, Self::Ne),
        ("<", 4, Self::Lt),
        ("<=", 4, Self::Le),
        (">", 4, Self::Gt),
        (">=", 4, Self::Ge),
        ("|", 5, Self::BitOr),
        ("^", 6, Self::BitXor),
        ("&", 7, Self::BitAnd),
        ("<<", 8, Self::Shl),
        (">>", 8, Self::Shr),
        ("+", 9, Self::Add),
        ("-", 9, Self::Sub),
        ("*", 10, Self::Mul),
        ("/", 10, Self::Div),
        ("%", 10, Self::Rem),
    ];

    fn entry(self) -> (&'static str, u8) {
        let found = Self::ALL.iter().find(|(.., op)| *op == self);
        found.map_or(("?", 0), |(spelling, strength, _)| (spelling, *strength))
    }

    /// How it is written.
    pub fn spelling(self) -> &'static str {
        self.entry().0
    }

    /// How strongly it binds.
    pub fn strength(self) -> u8 {
        self.entry().1
    }

    /// The operator with this spelling.
    pub fn parse(spelling: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, ..)| *known == spelling).map(|(.., op)| *op)
    }

    /// Of words that are no numbers it is known whether they are the same.
    fn apply_to_words(self, a: Value, b: Value) -> Option<Value> {
        let same = match self {
            Self::Eq => a == b,
            Self::Ne => a != b,
            _ => return None,
        };
        (a != Value::Opaque && b != Value::Opaque).then(|| Value::Nat(same.into()))
    }

    fn apply_to_numbers(self, x: Number, y: Number) -> Option<Number> {
        let compare = |holds: fn(Ordering) -> bool| Some(Number::truth(holds(x.compared(y)?)));
        match self {
            Self::Or => Some(Number::truth(x.is_true() || y.is_true())),
            Self::And => Some(Number::truth(x.is_true() && y.is_true())),
            Self::Eq => compare(Ordering::is_eq),
            Self::Ne => compare(Ordering::is_ne),
            Self::Lt => compare(Ordering::is_lt),
            Self::Le => compare(Ordering::is_le),
            Self::Gt => compare(Ordering::is_gt),
            Self::Ge => compare(Ordering::is_ge),
            Self::BitOr => Some(x.bits_with(y, |a, b| a | b)),
            Self::BitXor => Some(x.bits_with(y, |a, b| a ^ b)),
            Self::BitAnd => Some(x.bits_with(y, |a, b| a & b)),
            Self::Shl => x.shifted_left(y),
            Self::Shr => x.shifted_right(y),
            Self::Add => Some(x.plus(y)),
            Self::Sub => Some(x.minus(y)),
            Self::Mul => Some(x.times(y)),
            Self::Div => x.divided_by(y),
            Self::Rem => x.remainder_by(y),
        }
    }
}

impl Unary {
    fn apply(self, x: Number) -> Number {
        match self {
            Self::Not => Number::truth(!x.is_true()),
            Self::Minus => Number::ZERO.minus(x),
            Self::As(int) => x.cast(int),
            Self::In(int) => Number::truth(x.is_in(int)),
        }
    }
}

impl Term {
    /// How many values it takes off the stack.
    pub const fn takes(&self) -> usize {
        match self {
            Self::Read | Self::Number | Self::Constant(_) => 0,
            Self::Unary(_) => 1,
            Self::Binary(_) => 2,
        }
    }

    /// Whether it takes an operand of the event.
    pub const fn is_place(&self) -> bool {
        matches!(self, Self::Read | Self::Number)
    }
}

/// How many values a computation may have on its stack.
pub const DEEPEST: usize = 64;

/// Whether a row of terms computes one value, of no more operands than there can be.
pub fn is_whole(shape: &[Term]) -> bool {
    let places = shape.iter().filter(|term| term.is_place()).count();
    let mut depth = 0usize;
    let fits = shape.iter().all(|term| match depth.checked_sub(term.takes()) {
        Some(left) => {
            depth = left + 1;
            depth <= DEEPEST
        }
        None => false,
    });
    fits && depth == 1 && places <= MOST_OPERANDS
}

/// What an expression computes. `read` gives the values that the thread has named, in the order of
/// the expression. There is no result if there is none in Rust, as of a division by zero, or if 128
/// bits do not hold it.
pub fn evaluate(nodes: &[Node], mut read: impl FnMut(u32) -> Option<Value>) -> Option<Value> {
    // Results that 128 bits do not hold may be taken modulo that by the next step.
    enum Kept {
        Value(Value),
        Number(Number),
    }
    let value = |kept: &Kept| match kept {
        Kept::Value(value) => Some(*value),
        Kept::Number(number) => number.value(),
    };
    let number = |kept: &Kept| match kept {
        Kept::Value(value) => Number::of(*value),
        Kept::Number(number) => Some(*number),
    };
    let mut stack: Vec<Kept> = Vec::new();
    for node in nodes {
        let result = match node {
            Node::Read(back) => Kept::Value(read(*back)?),
            Node::Value(value) => Kept::Value(*value),
            Node::Unary(op) => Kept::Number(op.apply(number(&stack.pop()?)?)),
            Node::Binary(op) => {
                let (b, a) = (stack.pop()?, stack.pop()?);
                match (number(&a), number(&b)) {
                    (Some(a), Some(b)) => Kept::Number(op.apply_to_numbers(a, b)?),
                    _ => Kept::Value(op.apply_to_words(value(&a)?, value(&b)?)?),
                }
            }
        };
        stack.push(result);
    }
    match stack.as_slice() {
        [result] => value(result).filter(|value| *value != Value::Opaque),
        _ => None,
    }
}

/// Whether a value counts as true.
pub fn is_true(value: Value) -> bool {
    Number::of(value).is_some_and(Number::is_true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn computed(nodes: &[Node], reads: &[i64]) -> Option<Value> {
        evaluate(nodes, |back| reads.get(back as usize).map(|read| Value::int((*read).into())))
    }

    #[test]
    fn terms_are_computed_in_their_order() {
        let nine = Node::Value(Value::Nat(9));
        let difference = [Node::Read(0), nine, Node::Binary(Binary::Sub)];
        assert_eq!(computed(&difference, &[7]), Some(Value::Neg(-2)));
        let byte = IntType::parse("u8").unwrap();
        let cast = [&difference[..], &[Node::Unary(Unary::As(byte))]].concat();
        assert_eq!(computed(&cast, &[7]), Some(Value::Nat(254)));
        let divided = [nine, Node::Read(0), Node::Binary(Binary::Div)];
        assert_eq!(computed(&divided, &[0]), None);
    }

    #[test]
    fn what_is_too_large_may_still_be_cast() {
        let wide = IntType::parse("u128").unwrap();
        let sum = [
            Node::Value(Value::Nat(u128::MAX)),
            Node::Read(0),
            Node::Binary(Binary::Add),
            Node::Unary(Unary::As(wide)),
        ];
        assert_eq!(computed(&sum, &[3]), Some(Value::Nat(2)));
        assert_eq!(computed(&sum[..3], &[3]), None);
    }

    #[test]
    fn expressions_are_taken_apart_and_put_together() {
        let large = Node::Value(Value::Nat(1 << 70));
        let nodes = [
            Node::Read(2),
            large,
            Node::Binary(Binary::Add),
            Node::Value(Value::Neg(-1)),
            Node::Binary(Binary::Lt),
        ];
        let (shape, operands) = take_apart(&nodes).unwrap();
        assert_eq!(operands, [2, -1]);
        assert_eq!(shape[1], Term::Constant(Value::Nat(1 << 70)));
        assert_eq!(put_together(&shape, &operands).unwrap(), nodes);
        assert_eq!(put_together(&shape, &[2]), None);
        assert_eq!(put_together(&shape, &[2, 3, 4]), None);
        // Numbers make room for reads.
        let one = Node::Value(Value::Nat(1));
        let mut many = vec![one];
        (0..9).for_each(|back| many.extend([Node::Read(back), Node::Binary(Binary::Add)]));
        many.extend([one, Node::Binary(Binary::Add)]);
        let (shape, operands) = take_apart(&many).unwrap();
        assert_eq!(operands.len(), MOST_OPERANDS);
        assert_eq!(shape.iter().filter(|term| matches!(term, Term::Constant(_))).count(), 1);
        (0..2).for_each(|back| many.extend([Node::Read(back), Node::Binary(Binary::Add)]));
        assert_eq!(take_apart(&many), None);
    }

    #[test]
    fn rows_that_compute_nothing_are_told() {
        assert!(!is_whole(&[]));
        assert!(!is_whole(&[Term::Read, Term::Read]));
        assert!(!is_whole(&[Term::Read, Term::Binary(Binary::Add)]));
        assert!(!is_whole(&[Term::Unary(Unary::Not)]));
        let many = vec![Term::Read; MOST_OPERANDS + 1];
        let sum = [many, vec![Term::Binary(Binary::Add); MOST_OPERANDS]].concat();
        assert!(!is_whole(&sum));
    }

    #[test]
    fn words_that_are_no_numbers_can_be_compared() {
        let [red, blue] = [1, 2].map(|id| Value::Symbol(StrId::new(id)));
        let same =
            |a, b| evaluate(&[Node::Value(a), Node::Value(b), Node::Binary(Binary::Eq)], |_| None);
        assert_eq!(same(red, red), Some(Value::Nat(1)));
        assert_eq!(same(red, blue), Some(Value::Nat(0)));
        assert_eq!(same(red, Value::Nat(1)), Some(Value::Nat(0)));
        assert_eq!(same(red, Value::Opaque), None);
    }

    #[test]
    fn every_operator_comes_back_from_its_spelling() {
        for (spelling, strength, op) in Binary::ALL {
            assert_eq!(Binary::parse(spelling), Some(op));
            assert_eq!((op.spelling(), op.strength()), (spelling, strength));
        }
    }
}
