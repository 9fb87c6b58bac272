//! Postcard's primitive types, put to and taken from byte buffers.
//!
//! All of the payloads are built from these; none has a schema of its own, so decoding cannot
//! allocate more than it was given.

use crate::trace::{StrId, Value};

/// The bytes do not hold what should stand there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Malformed;

/// A `u128` varint has at most this many bytes.
const LONGEST: usize = 19;

/// Where bytes go.
pub(crate) trait Out {
    fn put(&mut self, byte: u8);
}

impl Out for Vec<u8> {
    #[inline]
    fn put(&mut self, byte: u8) {
        self.push(byte);
    }
}

/// Postcard's varint, written here because recorders write several for every event.
#[inline]
fn put_varint(out: &mut impl Out, mut value: u64) {
    while value >= 0x80 {
        out.put(value as u8 | 0x80);
        value >>= 7;
    }
    out.put(value as u8);
}

#[inline]
pub(crate) fn put_u8(out: &mut impl Out, value: u8) {
    out.put(value);
}

#[inline]
pub(crate) fn put_u32(out: &mut impl Out, value: u32) {
    put_varint(out, value.into());
}

#[inline]
pub(crate) fn put_u64(out: &mut impl Out, value: u64) {
    put_varint(out, value);
}

#[inline]
pub(crate) fn put_i64(out: &mut impl Out, value: i64) {
    put_varint(out, (value << 1 ^ value >> 63) as u64);
}

#[cold]
pub(crate) fn put_u128(out: &mut impl Out, value: u128) {
    let mut buffer = [0; LONGEST];
    let bytes = postcard::to_slice(&value, &mut buffer).expect("the buffer has room");
    bytes.iter().for_each(|byte| out.put(*byte));
}

macro_rules! primitives {
    ($($take:ident $type:ty;)*) => {$(
        #[cold]
        fn $take(input: &mut &[u8]) -> Result<$type, Malformed> {
            let (value, rest) = postcard::take_from_bytes(input).map_err(|_| Malformed)?;
            *input = rest;
            Ok(value)
        }
    )*};
}

primitives! {
    take_long_u32 u32;
    take_long_u64 u64;
    take_long_i64 i64;
    take_long_u128 u128;
}

/// Takes a varint of at most so many bytes; takes nothing if there is none. All that a reader takes
/// of an event but its code are varints, and nearly all of these have one byte or two.
#[inline(always)]
fn take_varint(input: &mut &[u8], most: usize) -> Option<u64> {
    let mut value = 0;
    for (at, byte) in input.iter().take(most).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if *byte < 0x80 {
            *input = &input[at + 1..];
            return Some(value);
        }
    }
    None
}

/// No varint of so many bytes is too large for its type.
const SHORT_U32: usize = 4;
const SHORT_U64: usize = 9;

#[inline]
pub(crate) fn take_u8(input: &mut &[u8]) -> Result<u8, Malformed> {
    let (byte, rest) = input.split_first().ok_or(Malformed)?;
    *input = rest;
    Ok(*byte)
}

#[inline]
pub(crate) fn take_u32(input: &mut &[u8]) -> Result<u32, Malformed> {
    match take_varint(input, SHORT_U32) {
        Some(value) => Ok(value as u32),
        None => take_long_u32(input),
    }
}

#[inline]
pub(crate) fn take_u64(input: &mut &[u8]) -> Result<u64, Malformed> {
    match take_varint(input, SHORT_U64) {
        Some(value) => Ok(value),
        None => take_long_u64(input),
    }
}

#[inline]
pub(crate) fn take_i64(input: &mut &[u8]) -> Result<i64, Malformed> {
    match take_varint(input, SHORT_U64) {
        Some(value) => Ok((value >> 1) as i64 ^ -((value & 1) as i64)),
        None => take_long_i64(input),
    }
}

#[inline]
pub(crate) fn take_u128(input: &mut &[u8]) -> Result<u128, Malformed> {
    match take_varint(input, SHORT_U64) {
        Some(value) => Ok(value.into()),
        None => take_long_u128(input),
    }
}

pub(crate) fn put_str(out: &mut impl Out, text: &str) {
    put_u64(out, text.len() as u64);
    text.bytes().for_each(|byte| out.put(byte));
}

pub(crate) fn take_str<'a>(input: &mut &'a [u8]) -> Result<&'a str, Malformed> {
    let (text, rest) = postcard::take_from_bytes(input).map_err(|_| Malformed)?;
    *input = rest;
    Ok(text)
}

// A value is one varint, its low two bits the kind, so that small numbers take one byte. Numbers
// with no room for the two bits follow in full after an escape.
const KIND_BITS: u32 = 2;
const SPECIAL: u128 = 0;
const NAT: u128 = 1;
const NEG: u128 = 2;
const SYMBOL: u128 = 3;
const SPECIAL_OPAQUE: u128 = 0;
const SPECIAL_BIG_NAT: u128 = 1;
const SPECIAL_BIG_NEG: u128 = 2;

#[inline]
pub(crate) fn put_value(out: &mut impl Out, value: Value) {
    // Nearly all of them: 64 bits and the kind.
    if let Value::Nat(number) = value {
        if number < 1 << (u64::BITS - KIND_BITS) {
            return put_u64(out, (number as u64) << KIND_BITS | NAT as u64);
        }
    }
    if value == Value::Opaque {
        return put_u64(out, (SPECIAL_OPAQUE << KIND_BITS | SPECIAL) as u64);
    }
    put_long_value(out, value);
}

fn put_long_value(out: &mut impl Out, value: Value) {
    let (kind, payload) = match value {
        Value::Opaque => (SPECIAL, SPECIAL_OPAQUE),
        Value::Nat(number) => (NAT, number),
        Value::Neg(number) => (NEG, !number as u128),
        Value::Symbol(id) => (SYMBOL, u128::from(id.get())),
    };
    if payload.leading_zeros() >= KIND_BITS {
        let packed = payload << KIND_BITS | kind;
        match u64::try_from(packed) {
            Ok(small) => put_u64(out, small),
            Err(_) => put_u128(out, packed),
        }
    } else {
        let escape = if kind == NAT { SPECIAL_BIG_NAT } else { SPECIAL_BIG_NEG };
        put_u128(out, escape << KIND_BITS | SPECIAL);
        put_u128(out, payload);
    }
}

#[inline]
pub(crate) fn take_value(input: &mut &[u8]) -> Result<Value, Malformed> {
    let packed = take_u128(input)?;
    if packed & ((1 << KIND_BITS) - 1) == NAT {
        return Ok(Value::Nat(packed >> KIND_BITS));
    }
    take_other_value(packed, input)
}

fn take_other_value(packed: u128, input: &mut &[u8]) -> Result<Value, Malformed> {
    let payload = packed >> KIND_BITS;
    match packed & ((1 << KIND_BITS) - 1) {
        NEG => negative(payload),
        SYMBOL => Ok(Value::Symbol(StrId::new(u32::try_from(payload).map_err(|_| Malformed)?))),
        _ => match payload {
            SPECIAL_OPAQUE => Ok(Value::Opaque),
            SPECIAL_BIG_NAT => Ok(Value::Nat(take_u128(input)?)),
            SPECIAL_BIG_NEG => negative(take_u128(input)?),
            _ => Err(Malformed),
        },
    }
}

fn negative(complement: u128) -> Result<Value, Malformed> {
    let complement = i128::try_from(complement).map_err(|_| Malformed)?;
    Ok(Value::Neg(!complement))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        let values = [
            Value::Opaque,
            Value::Nat(0),
            Value::Nat(31),
            Value::Nat(u128::from(u64::MAX)),
            Value::Nat(u128::MAX >> 2),
            Value::Nat((u128::MAX >> 2) + 1),
            Value::Nat(u128::MAX),
            Value::Neg(-1),
            Value::Neg(i128::MIN),
            Value::Symbol(StrId::new(7)),
        ];
        let mut bytes = Vec::new();
        for value in values {
            put_value(&mut bytes, value);
        }
        let mut rest = &bytes[..];
        for value in values {
            assert_eq!(take_value(&mut rest), Ok(value));
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn small_numbers_take_one_byte() {
        let mut bytes = Vec::new();
        put_value(&mut bytes, Value::Nat(31));
        put_value(&mut bytes, Value::Neg(-32));
        put_value(&mut bytes, Value::Opaque);
        assert_eq!(bytes.len(), 3);
    }

    #[test]
    fn integers_are_written_as_postcard_writes_them() {
        for shift in 0..64 {
            for value in [1u64 << shift, (1u64 << shift) - 1, u64::MAX >> shift] {
                let mut bytes = Vec::new();
                put_u64(&mut bytes, value);
                assert_eq!(bytes, postcard::to_stdvec(&value).unwrap());
                for signed in [value as i64, (value as i64).wrapping_neg()] {
                    let mut bytes = Vec::new();
                    put_i64(&mut bytes, signed);
                    assert_eq!(bytes, postcard::to_stdvec(&signed).unwrap());
                }
            }
        }
    }

    #[test]
    fn integers_are_read_as_postcard_reads_them() {
        macro_rules! check {
            ($bytes:expr, $($take:ident)*) => {$(
                let mut rest = &$bytes[..];
                let taken = $take(&mut rest).map(|value| (value, rest));
                let expected = postcard::take_from_bytes(&$bytes).map_err(|_| Malformed);
                assert_eq!(taken, expected, "{:?}", $bytes);
            )*};
        }
        // Of every length, cut off or not, too long or too large for its type or not.
        for len in 0..=20 {
            for last in [0, 1, 2, 3, 7, 8, 15, 16, 0x7f, 0x80, 0xff] {
                for other in [0x80, 0x81, 0xff] {
                    let mut bytes = vec![other; len];
                    bytes.push(last);
                    check!(bytes, take_u8 take_u32 take_u64 take_i64 take_u128);
                    bytes.push(5);
                    check!(bytes, take_u8 take_u32 take_u64 take_i64 take_u128);
                }
            }
        }
    }

    #[test]
    fn strings_must_be_whole() {
        let mut bytes = Vec::new();
        put_str(&mut bytes, "lock");
        assert_eq!(take_str(&mut &bytes[..]), Ok("lock"));
        assert_eq!(take_str(&mut &bytes[..3]), Err(Malformed));
        assert_eq!(take_str(&mut &[1, 0xff][..]), Err(Malformed));
    }
}
