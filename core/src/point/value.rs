//! The kinds of value a series can hold, and one value.
//!
//! A series has a kind, and so has each chunk of it; the two may differ, since nothing is rejected
//! for a change of type: an integer that a float can't hold starts an integer chunk of a float
//! series, a word starts a state chunk. A gap is the absence of a value, not a kind.

use super::Timestamp;

/// What the values of a chunk are, and what a series was first seen to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ValueKind {
    /// IEEE 754 binary64, every bit pattern kept.
    Float = 0,
    /// `i64`, used only for numbers that binary64 can't hold.
    Integer = 1,
    /// True or false.
    Boolean = 2,
    /// A short text, such as `open` or `heating`.
    State = 3,
}

impl ValueKind {
    /// The kind stored as `code`, or `None` for a code of the future.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Float),
            1 => Some(Self::Integer),
            2 => Some(Self::Boolean),
            3 => Some(Self::State),
            _ => None,
        }
    }

    /// The stored code.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The word used in the API, the CLI and the documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::State => "state",
        }
    }
}

/// One value of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A number as binary64; NaN is a reading that is no number.
    Float(f64),
    /// A whole number that binary64 can't hold.
    Integer(i64),
    /// True or false.
    Boolean(bool),
    /// A short text.
    State(&'a str),
    /// No value from here on, until the next one.
    Gap,
}

impl Value<'_> {
    /// A number as the narrowest kind that keeps it: a float where binary64 holds it exactly.
    pub fn from_integer(integer: i64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "the loss is what is tested for")]
        let float = integer as f64;
        #[expect(clippy::cast_possible_truncation, reason = "2^63 itself saturates and is caught")]
        let back = float as i64;
        if back == integer && integer != i64::MAX { Self::Float(float) } else { Self::Integer(integer) }
    }

    /// The kind of the value; `None` for a gap.
    pub const fn kind(&self) -> Option<ValueKind> {
        match self {
            Self::Float(_) => Some(ValueKind::Float),
            Self::Integer(_) => Some(ValueKind::Integer),
            Self::Boolean(_) => Some(ValueKind::Boolean),
            Self::State(_) => Some(ValueKind::State),
            Self::Gap => None,
        }
    }

    /// Whether both are the same to the last bit: NaN payloads and the sign of zero count.
    pub fn same_bits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            _ => self == other,
        }
    }
}

/// A timestamp and a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point<'a> {
    /// When.
    pub timestamp: Timestamp,
    /// What.
    pub value: Value<'a>,
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn integers_become_floats_where_nothing_is_lost() {
        assert_eq!(Value::from_integer(7), Value::Float(7.0));
        assert_eq!(Value::from_integer(1 << 53), Value::Float(9_007_199_254_740_992.0));
        assert_eq!(Value::from_integer((1 << 53) + 1), Value::Integer((1 << 53) + 1));
        assert_eq!(Value::from_integer(i64::MAX), Value::Integer(i64::MAX));
        assert_eq!(Value::from_integer(i64::MIN), Value::Float(-9_223_372_036_854_775_808.0));
    }

    #[test]
    fn bits_decide_sameness() {
        assert!(!Value::Float(0.0).same_bits(&Value::Float(-0.0)));
        assert!(Value::Float(f64::NAN).same_bits(&Value::Float(f64::NAN)));
    }
}
