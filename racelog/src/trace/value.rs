//! Values that events read and write.

use super::StrId;

/// A value: a concrete word, or opaque.
///
/// Two concrete values are equal when their words are; each word has exactly one representation
/// here, so the derived equality is the right one. An opaque value is equal to nothing but itself:
/// a read of it has seen exactly the last write before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// A value that was not recorded.
    Opaque,
    /// A non-negative integer, or the bits of any other machine word of up to 16 bytes.
    Nat(u128),
    /// A negative integer; the payload is below zero.
    Neg(i128),
    /// Any other word, kept as a string of the dictionary.
    Symbol(StrId),
}

impl Value {
    /// The value of a signed integer.
    pub const fn int(value: i128) -> Self {
        if value < 0 { Self::Neg(value) } else { Self::Nat(value as u128) }
    }

    /// Reads a number in the one spelling that [`Display`](std::fmt::Display) would give it;
    /// `None` for every other word.
    pub fn parse_number(word: &str) -> Option<Self> {
        let digits = word.strip_prefix('-').unwrap_or(word);
        let canonical = !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
            && (digits == "0" || !digits.starts_with('0'))
            && word != "-0";
        if !canonical {
            None
        } else if digits.len() == word.len() {
            word.parse().ok().map(Self::Nat)
        } else {
            word.parse().ok().map(Self::Neg)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_one_spelling() {
        assert_eq!(Value::parse_number("0"), Some(Value::Nat(0)));
        assert_eq!(Value::parse_number("-1"), Some(Value::Neg(-1)));
        let largest = u128::MAX.to_string();
        assert_eq!(Value::parse_number(&largest), Some(Value::Nat(u128::MAX)));
        let smallest = i128::MIN.to_string();
        assert_eq!(Value::parse_number(&smallest), Some(Value::Neg(i128::MIN)));
        for word in ["", "-", "-0", "007", "+1", "1x", "0x10", "1.5", &format!("{largest}0")] {
            assert_eq!(Value::parse_number(word), None, "{word}");
        }
    }

    #[test]
    fn integers_go_by_their_sign() {
        assert_eq!(Value::int(5), Value::Nat(5));
        assert_eq!(Value::int(-5), Value::Neg(-5));
    }
}
