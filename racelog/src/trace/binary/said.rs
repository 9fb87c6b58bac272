//! What is said of an event, as bytes before those of the event: a byte that says what there is,
//! and then that.

use super::primitive::{
    Malformed, Out, put_i64, put_u8, put_u32, put_u64, put_value, take_i64, take_u8, take_u32,
    take_u64, take_value,
};
use crate::trace::expression::{Binary, MOST_OPERANDS, Unary};
use crate::trace::{Formula, IntType, Said, ShapeId, Stamp, StrId, Term};

const FOUND: u8 = 1;
const NAMED: u8 = 2;
const IS: u8 = 4;
const EXPECTS: u8 = 8;
const SINCE: u8 = 16;
const AGAIN: u8 = 32;
const ALL: u8 = FOUND | NAMED | IS | EXPECTS | SINCE | AGAIN;

/// Nothing that is said has more bytes, its code included.
#[cfg(any(feature = "record", test))]
pub(crate) const LONGEST: usize = 2 + 5 + 2 * (5 + 1 + MOST_OPERANDS * 10) + 2 * 10;

/// Puts what is said of an event whose thread has this stamp before it. Nothing may be said twice.
pub(crate) fn put_said(said: &[Said], stamp: u64, out: &mut impl Out) {
    let mut what = 0;
    for said in said {
        what |= match said {
            Said::Found(None) => FOUND,
            Said::Found(Some(_)) => FOUND | NAMED,
            Said::Is(_) => IS,
            Said::Expects(_) => EXPECTS,
            Said::Since(_) => SINCE,
            Said::Again(_) => AGAIN,
        };
    }
    put_u8(out, what);
    // In the order of the bits, whatever the order in which it was said.
    for bit in [NAMED, IS, EXPECTS, SINCE, AGAIN] {
        for said in said {
            match (bit, said) {
                (NAMED, Said::Found(Some(name))) => put_u32(out, name.get()),
                (IS, Said::Is(formula)) | (EXPECTS, Said::Expects(formula)) => {
                    put_formula(formula, out);
                }
                (SINCE, Said::Since(since)) => put_u64(out, stamp.saturating_sub(since.get())),
                (AGAIN, Said::Again(times)) => put_u64(out, *times),
                _ => {}
            }
        }
    }
}

fn put_formula(formula: &Formula, out: &mut impl Out) {
    put_u32(out, formula.shape.get());
    put_u8(out, formula.operands().len() as u8);
    formula.operands().iter().for_each(|operand| put_i64(out, *operand));
}

/// Takes what is said of an event whose thread has this stamp before it.
pub(crate) fn take_said(
    said: &mut Vec<Said>,
    stamp: u64,
    input: &mut &[u8],
) -> Result<(), Malformed> {
    let what = take_u8(input)?;
    if what & !ALL != 0 || what & (FOUND | NAMED) == NAMED {
        return Err(Malformed);
    }
    let has = |bit: u8| what & bit != 0;
    if has(FOUND) {
        let name = if has(NAMED) { Some(StrId::new(take_u32(input)?)) } else { None };
        said.push(Said::Found(name));
    }
    if has(IS) {
        said.push(Said::Is(take_formula(input)?));
    }
    if has(EXPECTS) {
        said.push(Said::Expects(take_formula(input)?));
    }
    if has(SINCE) {
        let since = stamp.checked_sub(take_u64(input)?).ok_or(Malformed)?;
        said.push(Said::Since(Stamp::new(since)));
    }
    if has(AGAIN) {
        said.push(Said::Again(take_u64(input)?));
    }
    Ok(())
}

fn take_formula(input: &mut &[u8]) -> Result<Formula, Malformed> {
    let shape = ShapeId::new(take_u32(input)?);
    let count = usize::from(take_u8(input)?);
    let mut operands = [0; MOST_OPERANDS];
    for operand in operands.get_mut(..count).ok_or(Malformed)? {
        *operand = take_i64(input)?;
    }
    Formula::new(shape, &operands[..count]).ok_or(Malformed)
}

const READ: u8 = 1;
const NUMBER: u8 = 2;
const CONSTANT: u8 = 3;
const NOT: u8 = 4;
const MINUS: u8 = 5;
/// From here on: as each type, then whether each type has it, then the operators of two operands.
const AS: u8 = 16;
const IN: u8 = 32;
const BINARY: u8 = 64;

pub(crate) fn put_shape(shape: &[Term], out: &mut impl Out) {
    put_u32(out, u32::try_from(shape.len()).unwrap_or(u32::MAX));
    for term in shape {
        let code = match term {
            Term::Read => READ,
            Term::Number => NUMBER,
            Term::Constant(_) => CONSTANT,
            Term::Unary(Unary::Not) => NOT,
            Term::Unary(Unary::Minus) => MINUS,
            Term::Unary(Unary::As(int)) => AS + int.code(),
            Term::Unary(Unary::In(int)) => IN + int.code(),
            Term::Binary(op) => {
                let place = Binary::ALL.iter().position(|(.., known)| known == op);
                BINARY + place.map_or(0, |place| place as u8)
            }
        };
        put_u8(out, code);
        if let Term::Constant(value) = term {
            put_value(out, *value);
        }
    }
}

pub(crate) fn take_shape(input: &mut &[u8]) -> Result<Vec<Term>, Malformed> {
    let count = take_u32(input)?;
    let mut shape = Vec::new();
    for _ in 0..count {
        let code = take_u8(input)?;
        shape.push(match code {
            READ => Term::Read,
            NUMBER => Term::Number,
            CONSTANT => Term::Constant(take_value(input)?),
            NOT => Term::Unary(Unary::Not),
            MINUS => Term::Unary(Unary::Minus),
            AS..IN => Term::Unary(Unary::As(IntType::of_code(code - AS).ok_or(Malformed)?)),
            IN..BINARY => Term::Unary(Unary::In(IntType::of_code(code - IN).ok_or(Malformed)?)),
            _ => {
                let place = code.checked_sub(BINARY).ok_or(Malformed)?;
                let (.., op) = Binary::ALL.get(usize::from(place)).ok_or(Malformed)?;
                Term::Binary(*op)
            }
        });
    }
    Ok(shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Value;

    #[test]
    fn what_is_said_comes_back() {
        let formula = |operands: &[i64]| Formula::new(ShapeId::new(300), operands).unwrap();
        let long = [i64::MIN; MOST_OPERANDS];
        let all = [
            vec![Said::Found(None)],
            vec![Said::Found(Some(StrId::new(u32::MAX))), Said::Is(formula(&[1, -1]))],
            vec![
                Said::Found(Some(StrId::new(u32::MAX))),
                Said::Is(formula(&long)),
                Said::Expects(formula(&long)),
                Said::Since(Stamp::new(0)),
                Said::Again(u64::MAX),
            ],
            vec![Said::Again(1)],
            vec![Said::Expects(formula(&[])), Said::Since(Stamp::new(40))],
        ];
        for said in all {
            let mut bytes = Vec::new();
            put_said(&said, u64::MAX, &mut bytes);
            assert!(bytes.len() <= LONGEST);
            let (mut rest, mut taken) = (&bytes[..], Vec::new());
            assert_eq!(take_said(&mut taken, u64::MAX, &mut rest), Ok(()));
            assert_eq!(taken, said);
            assert!(rest.is_empty());
            for len in 0..bytes.len() {
                assert_eq!(take_said(&mut Vec::new(), 9, &mut &bytes[..len]), Err(Malformed));
            }
        }
        assert_eq!(take_said(&mut Vec::new(), 9, &mut &[NAMED, 1][..]), Err(Malformed));
        assert_eq!(take_said(&mut Vec::new(), 9, &mut &[SINCE, 10][..]), Err(Malformed));
    }

    #[test]
    fn shapes_come_back() {
        let mut shape = vec![Term::Read, Term::Number, Term::Constant(Value::Nat(u128::MAX))];
        shape.extend([Unary::Not, Unary::Minus].map(Term::Unary));
        for (_, int) in IntType::ALL {
            shape.extend([Unary::As(int), Unary::In(int)].map(Term::Unary));
        }
        shape.extend(Binary::ALL.map(|(.., op)| Term::Binary(op)));
        let mut bytes = Vec::new();
        put_shape(&shape, &mut bytes);
        assert_eq!(take_shape(&mut &bytes[..]), Ok(shape));
    }
}
