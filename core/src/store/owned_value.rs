//! A value that owns its text and compares by bits.

use alloc::boxed::Box;

use crate::point::Value;

/// A value kept for a while: of a late point, or of the last point of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnedValue {
    /// The bits of a float.
    Float(u64),
    /// A whole number beyond binary64.
    Integer(i64),
    /// True or false.
    Boolean(bool),
    /// A short text.
    State(Box<str>),
    /// No value from here on.
    Gap,
}

impl OwnedValue {
    /// The value itself.
    pub fn value(&self) -> Value<'_> {
        match self {
            Self::Float(bits) => Value::Float(f64::from_bits(*bits)),
            Self::Integer(integer) => Value::Integer(*integer),
            Self::Boolean(boolean) => Value::Boolean(*boolean),
            Self::State(text) => Value::State(text),
            Self::Gap => Value::Gap,
        }
    }

    /// Bytes on the heap.
    pub(super) fn heap_len(&self) -> usize {
        if let Self::State(text) = self { text.len() } else { 0 }
    }
}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Float(float) => Self::Float(float.to_bits()),
            Value::Integer(integer) => Self::Integer(integer),
            Value::Boolean(boolean) => Self::Boolean(boolean),
            Value::State(text) => Self::State(text.into()),
            Value::Gap => Self::Gap,
        }
    }
}
