//! What was found by computing values, looked at a second time: expressions as bit-vector terms.
//!
//! The search computes values by the contract's own evaluator, and what comes out wrong becomes a
//! clause. Here the same is asked of Z3, which shares no code with that evaluator. A number is
//! exact as far as 128 bits go, as the contract has it: a term of [`WIDTH`] bits with a sign, in
//! which the product of any two such numbers has room, and whether it is *beyond* what 128 bits
//! hold. Of a number beyond, only the low 128 bits count.

use racelog::trace::expression::{Binary, Node, Unary};
use racelog::trace::{IntType, Value};
use rustc_hash::FxHashMap;
use z3::ast::{BV, Bool};
use z3::{Params, SatResult, Solver};

use crate::solve::formula::{Claim, Term};
use crate::trace::EventId;

/// How many bits a term has.
const WIDTH: u32 = 262;

/// How long Z3 may think about one claim.
const MILLIS: u32 = 2_000;

/// Whether Z3 finds values for which a claim is wrong.
pub(super) fn refutes(claim: &Claim) -> bool {
    let mut made = Made { reads: FxHashMap::default(), defined: Vec::new() };
    for (read, term) in &claim.reads {
        let Some(number) = made.term(term) else { return false };
        // A name of its own, so that what is computed with is what was found and nothing else.
        let found = Number {
            bits: BV::new_const(format!("e{read}"), WIDTH),
            beyond: Bool::from_bool(false),
        };
        made.defined.push(found.bits.eq(&number.bits));
        made.defined.push(number.beyond.not());
        made.reads.insert(*read, found);
    }
    let (Some(left), Some(right)) = (made.term(&claim.left), made.term(&claim.right)) else {
        return false;
    };
    let same = left.bits.eq(&right.bits);
    let wanted = if claim.same { same } else { same.not() };
    let solver = Solver::new_for_logic("QF_BV").unwrap_or_default();
    let mut params = Params::new();
    params.set_u32("timeout", MILLIS);
    solver.set_params(&params);
    made.defined.extend([left.beyond.not(), right.beyond.not(), wanted]);
    for condition in &made.defined {
        solver.assert(condition);
    }
    solver.check() == SatResult::Sat
}

/// A number.
#[derive(Clone)]
struct Number {
    bits: BV,
    /// Whether it is one that 128 bits do not hold.
    beyond: Bool,
}

/// What has been made of a claim.
struct Made {
    reads: FxHashMap<EventId, Number>,
    /// What has to hold for there to be results.
    defined: Vec<Bool>,
}

fn constant(number: u64) -> BV {
    BV::from_u64(number, WIDTH)
}

/// The number that a value is; none for words and what is not known.
fn number(value: Value) -> Option<Number> {
    let (low, negative) = match value {
        Value::Nat(number) => (number, false),
        Value::Neg(number) => (number as u128, true),
        Value::Opaque | Value::Symbol(_) => return None,
    };
    let bits: Vec<bool> =
        (0..WIDTH).map(|bit| if bit < 128 { low >> bit & 1 == 1 } else { negative }).collect();
    Some(Number { bits: BV::from_bits(&bits)?, beyond: Bool::from_bool(false) })
}

/// Whether 128 bits hold what a term is: without a sign, or negative with one.
fn fits(bits: &BV) -> Bool {
    let rest = bits.bvashr(constant(128));
    let negative = bits.bvashr(constant(127));
    let minus_one = BV::from_i64(-1, WIDTH);
    Bool::or(&[rest.eq(constant(0)), negative.eq(&minus_one)])
}

fn truth(holds: &Bool) -> Number {
    Number { bits: holds.ite(&constant(1), &constant(0)), beyond: Bool::from_bool(false) }
}

impl Number {
    /// A result, which is beyond if what it was made of is or it does not fit.
    fn of(bits: BV, beyond: &[&Bool]) -> Self {
        let mut all: Vec<Bool> = beyond.iter().map(|beyond| (*beyond).clone()).collect();
        all.push(fits(&bits).not());
        Self { bits, beyond: Bool::or(&all) }
    }

    fn is_true(&self) -> Bool {
        Bool::or(&[self.beyond.clone(), self.bits.eq(constant(0)).not()])
    }

    fn cast(&self, int: IntType) -> Self {
        let low = self.bits.extract(int.bits() - 1, 0);
        let more = WIDTH - int.bits();
        let bits = if int.is_signed() { low.sign_ext(more) } else { low.zero_ext(more) };
        Self { bits, beyond: Bool::from_bool(false) }
    }

    fn unary(&self, op: Unary) -> Self {
        match op {
            Unary::Not => truth(&self.is_true().not()),
            Unary::Minus => Self::of(constant(0).bvsub(&self.bits), &[&self.beyond]),
            Unary::As(int) => self.cast(int),
            Unary::In(int) => {
                let same = self.cast(int).bits.eq(&self.bits);
                truth(&Bool::and(&[self.beyond.not(), same]))
            }
        }
    }
}

impl Made {
    /// What a term is, if it is a number.
    fn term(&mut self, term: &Term) -> Option<Number> {
        match term {
            Term::Known(value) => number(*value),
            Term::Found(read) => self.reads.get(read).cloned(),
            Term::Computed(expression) => {
                let mut stack: Vec<Number> = Vec::new();
                for node in expression.nodes() {
                    let made = match node {
                        Node::Read(place) => {
                            let read = expression.reads().get(*place as usize)?;
                            self.reads.get(read)?.clone()
                        }
                        Node::Value(value) => number(*value)?,
                        Node::Unary(op) => stack.pop()?.unary(*op),
                        Node::Binary(op) => {
                            let (b, a) = (stack.pop()?, stack.pop()?);
                            self.binary(*op, &a, &b)
                        }
                    };
                    stack.push(made);
                }
                stack.pop()
            }
        }
    }

    fn binary(&mut self, op: Binary, a: &Number, b: &Number) -> Number {
        let (x, y) = (&a.bits, &b.bits);
        let either = [&a.beyond, &b.beyond];
        let exact = Bool::and(&[a.beyond.not(), b.beyond.not()]);
        let mut compare = |holds: Bool| {
            self.defined.push(exact.clone());
            truth(&holds)
        };
        match op {
            Binary::Or => truth(&Bool::or(&[a.is_true(), b.is_true()])),
            Binary::And => truth(&Bool::and(&[a.is_true(), b.is_true()])),
            Binary::Eq => compare(x.eq(y)),
            Binary::Ne => compare(x.eq(y).not()),
            Binary::Lt => compare(x.bvslt(y)),
            Binary::Le => compare(x.bvsle(y)),
            Binary::Gt => compare(x.bvsgt(y)),
            Binary::Ge => compare(x.bvsge(y)),
            Binary::BitOr => Number::of(x.bvor(y), &either),
            Binary::BitXor => Number::of(x.bvxor(y), &either),
            Binary::BitAnd => Number::of(x.bvand(y), &either),
            Binary::Add => Number::of(x.bvadd(y), &either),
            Binary::Sub => Number::of(x.bvsub(y), &either),
            Binary::Mul => Number::of(x.bvmul(y), &either),
            Binary::Div | Binary::Rem => {
                self.defined.extend([exact, y.eq(constant(0)).not()]);
                Number::of(if op == Binary::Div { x.bvsdiv(y) } else { x.bvsrem(y) }, &[])
            }
            Binary::Shl => {
                self.places(b);
                // Within so many places a number that fits has room; what goes further is 0 or
                // beyond, with no low bits left.
                let far = y.bvugt(constant(130));
                let bits = far.ite(&constant(0), &x.bvshl(y));
                let lost = Bool::and(&[far, x.eq(constant(0)).not()]);
                Number::of(bits, &[&a.beyond, &lost])
            }
            Binary::Shr => {
                self.places(b);
                self.defined.push(a.beyond.not());
                Number::of(x.bvashr(y), &[])
            }
        }
    }

    /// A number of places to shift by is known, and not negative.
    fn places(&mut self, by: &Number) {
        self.defined.extend([by.beyond.not(), by.bits.bvsge(constant(0))]);
    }
}

#[cfg(test)]
mod tests {
    use racelog::trace::expression::evaluate;

    use super::*;
    use crate::trace::Expression;

    /// Numbers at whose edges types end.
    fn numbers() -> Vec<Value> {
        let small = [0, 1, 3, 127, 128, 255, 1 << 63].map(Value::Nat);
        let large = [1 << 127, u128::MAX].map(Value::Nat);
        let negative = [-1, -2, -128, -129, i128::MIN].map(Value::Neg);
        small.into_iter().chain(large).chain(negative).collect()
    }

    /// Whether Z3 and the contract agree on what a computation over two reads gives.
    fn agree(nodes: &[Node], values: [Value; 2]) {
        let reads: Vec<EventId> = [0, 1].map(EventId::from_index).into();
        let computed = evaluate(nodes, |place| Some(values[place as usize]));
        let claim = |right: Value, same: bool| Claim {
            reads: reads.iter().copied().zip(values.map(Term::Known)).collect(),
            left: Term::Computed(Expression::new(nodes.to_vec(), reads.clone())),
            right: Term::Known(right),
            same,
        };
        let right = computed.unwrap_or(Value::Nat(0));
        let said = format!("{nodes:?} of {values:?} is {computed:?}");
        assert!(!refutes(&claim(right, false)), "{said}");
        assert_eq!(refutes(&claim(right, true)), computed.is_some(), "{said}");
    }

    #[test]
    fn z3_computes_what_the_contract_does() {
        let (a, b) = (Node::Read(0), Node::Read(1));
        for x in numbers() {
            for int in IntType::ALL.map(|(_, int)| int) {
                agree(&[a, Node::Unary(Unary::As(int))], [x, x]);
                agree(&[a, Node::Unary(Unary::In(int))], [x, x]);
            }
            agree(&[a, Node::Unary(Unary::Minus)], [x, x]);
            agree(&[a, Node::Unary(Unary::Not)], [x, x]);
        }
        for (at, x) in numbers().into_iter().enumerate() {
            for y in numbers().into_iter().skip(at % 2).step_by(2) {
                for (.., op) in Binary::ALL {
                    agree(&[a, b, Node::Binary(op)], [x, y]);
                }
                // What 128 bits do not hold may be taken to a type all the same.
                let (byte, product) = (IntType::of(8, false), Node::Binary(Binary::Mul));
                let byte = Node::Unary(Unary::As(byte.expect("there is such")));
                agree(&[a, b, product, byte], [x, y]);
            }
        }
    }

    #[test]
    fn a_claim_along_a_chain_of_reads() {
        let [first, second] = [0, 1].map(EventId::from_index);
        let more = |read: EventId| {
            let one = Node::Value(Value::Nat(1));
            Term::Computed(Expression::new(
                vec![Node::Read(0), one, Node::Binary(Binary::Add)],
                vec![read],
            ))
        };
        let claim = |right: u128| Claim {
            reads: vec![(first, Term::Known(Value::Nat(5))), (second, more(first))],
            left: more(second),
            right: Term::Known(Value::Nat(right)),
            same: true,
        };
        assert!(refutes(&claim(7)));
        assert!(!refutes(&claim(8)));
    }
}
