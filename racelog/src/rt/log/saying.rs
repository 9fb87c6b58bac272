//! What instrumented code says of the values of its next event.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashMap;

use crate::trace::IntType;
use crate::trace::expression::{Binary, Node, Unary, evaluate};
use crate::trace::{ShapeId, StrId, Term, Value};

/// A value of instrumented code, and where it comes from: a computation over values that the
/// thread has named.
#[derive(Clone, Debug)]
pub(crate) struct Traced {
    /// What it is in this run, if that is known.
    pub(super) value: Option<Value>,
    /// The computation. A read is the number, from 1, of a value that the thread has named.
    pub(super) nodes: Vec<Node>,
    /// It holds only if all that the thread has read up to this stamp was what it was.
    pub(super) since: u64,
}

/// How long a computation may be.
const LONGEST: usize = 48;

impl Traced {
    /// A value that the program text says: it is the same in every execution.
    pub(crate) fn constant(value: Value) -> Self {
        Self { value: Some(value), nodes: vec![Node::Value(value)], since: 0 }
    }

    /// What one operator makes of it.
    pub(crate) fn unary(mut self, op: Unary) -> Self {
        let op = Node::Unary(op);
        self.value = self.value.and_then(|value| evaluate(&[Node::Value(value), op], |_| None));
        self.nodes.push(op);
        self
    }

    /// What an operator makes of two.
    pub(crate) fn binary(mut self, op: Binary, other: Self) -> Self {
        let op = Node::Binary(op);
        self.value = self.value.zip(other.value).and_then(|(left, right)| {
            evaluate(&[Node::Value(left), Node::Value(right), op], |_| None)
        });
        self.nodes.extend(other.nodes);
        self.nodes.push(op);
        self.since = self.since.max(other.since);
        self
    }

    /// What it is in this run.
    pub(crate) fn value(&self) -> Option<Value> {
        self.value
    }

    /// Whether it is the same in every execution that gets here.
    pub(crate) fn is_fixed(&self) -> bool {
        self.since == 0 && !self.nodes.iter().any(|node| matches!(node, Node::Read(_)))
    }

    pub(crate) fn is_short(&self) -> bool {
        self.nodes.len() <= LONGEST
    }
}

/// What an operation leaves.
pub(super) enum Left {
    /// What was computed before.
    Known(Traced),
    /// What an operator makes of what the operation itself finds and of this, as a type has it.
    OfFound(Binary, Traced, Option<IntType>),
}

/// What is said of the next event of a thread, and what the thread has named.
#[derive(Default)]
pub(in crate::rt) struct Saying {
    pub(super) any: Cell<bool>,
    pub(super) next: RefCell<Next>,
    /// How many values the thread has named.
    pub(super) named: Cell<u32>,
    /// The stamp of the last event that has named something.
    pub(super) found: Cell<Option<u64>>,
    /// Conditions that the thread has gone by since its last event that is no branch, and the stamp
    /// of the last of these branches.
    pub(super) decided: RefCell<(u64, Vec<Vec<Node>>)>,
    /// The shapes and names that the trace knows.
    pub(super) shapes: RefCell<FxHashMap<Vec<Term>, ShapeId>>,
    pub(super) names: RefCell<FxHashMap<&'static str, StrId>>,
}

/// What is said of an event.
#[derive(Default)]
pub(super) struct Next {
    /// What the event finds is to be named, and what people call it.
    pub(super) found: Option<Option<&'static str>>,
    /// Whatever becomes of what is found is said, so it owes no branch.
    pub(super) kept: bool,
    pub(super) is: Option<Left>,
    pub(super) expects: Option<Traced>,
}

impl Saying {
    /// Whether anything is said of the next event.
    #[inline(always)]
    pub(in crate::rt) fn is_any(&self) -> bool {
        self.any.get()
    }
}
