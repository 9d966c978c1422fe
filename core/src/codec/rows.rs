//! The rows of a chunk as columns, and the memory that coding them needs.

use super::{EncodeError, limits::ROWS_MAX};
use crate::point::ValueKind;

/// The values of a chunk, one for each row.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Floats; every bit pattern is kept.
    Float(&'a [f64]),
    /// Integers that floats can't hold.
    Integer(&'a [i64]),
    /// True or false.
    Boolean(&'a [bool]),
    /// Short texts.
    State {
        /// For each row the position of its text.
        codes: &'a [u16],
        /// The texts, at least those that are used.
        texts: &'a [&'a str],
    },
}

impl<'a> Values<'a> {
    /// How many there are.
    pub const fn len(&self) -> usize {
        match self {
            Self::Float(values) => values.len(),
            Self::Integer(values) => values.len(),
            Self::Boolean(values) => values.len(),
            Self::State { codes, .. } => codes.len(),
        }
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their kind.
    pub const fn kind(&self) -> ValueKind {
        match self {
            Self::Float(_) => ValueKind::Float,
            Self::Integer(_) => ValueKind::Integer,
            Self::Boolean(_) => ValueKind::Boolean,
            Self::State { .. } => ValueKind::State,
        }
    }

    /// The first `count` of them.
    fn prefix(&self, count: usize) -> Self {
        fn front<T>(values: &[T], count: usize) -> &[T] {
            values.get(..count).unwrap_or(values)
        }
        match *self {
            Self::Float(values) => Self::Float(front(values, count)),
            Self::Integer(values) => Self::Integer(front(values, count)),
            Self::Boolean(values) => Self::Boolean(front(values, count)),
            Self::State { codes, texts } => Self::State { codes: front(codes, count), texts },
        }
    }
}

/// Rows of one series, in the order in which they are to come back.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// Nanoseconds since the epoch; usually ascending, but any numbers are kept.
    pub timestamps: &'a [i64],
    /// As many values.
    pub values: Values<'a>,
    /// Row numbers, ascending, that hold no value. What stands in their place is not kept: the value
    /// before is repeated.
    pub gaps: &'a [u16],
}

impl Rows<'_> {
    /// How many rows there are.
    pub const fn len(&self) -> usize {
        self.timestamps.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.timestamps.is_empty()
    }

    /// The first `count` rows.
    pub fn prefix(&self, count: usize) -> Self {
        let gaps = self.gaps.partition_point(|&gap| usize::from(gap) < count);
        Self {
            timestamps: self.timestamps.get(..count).unwrap_or(self.timestamps),
            values: self.values.prefix(count),
            gaps: self.gaps.get(..gaps).unwrap_or(self.gaps),
        }
    }

    /// Refuses what can't be a chunk.
    pub(super) fn check(&self) -> Result<(), EncodeError> {
        let rows = self.timestamps.len();
        if rows != self.values.len() {
            return Err(EncodeError::Uneven { timestamps: rows, values: self.values.len() });
        }
        if rows == 0 {
            return Err(EncodeError::Empty);
        }
        if rows > ROWS_MAX {
            return Err(EncodeError::TooManyRows { rows });
        }
        let ascending = self.gaps.windows(2).all(|pair| pair.first() < pair.last());
        if !ascending || self.gaps.last().is_some_and(|&gap| usize::from(gap) >= rows) {
            return Err(EncodeError::Gaps);
        }
        if let Values::State { codes, texts } = self.values
            && let Some(row) = codes.iter().position(|&code| usize::from(code) >= texts.len())
        {
            return Err(EncodeError::StateCode { row });
        }
        Ok(())
    }
}

/// Memory lent by the caller, as slots: one for each row, and at least one for each text of states.
///
/// What is left in it has no meaning.
#[derive(Debug)]
pub struct Scratch<'a> {
    /// The numbers of a column.
    pub(super) numbers: &'a mut [i64],
    /// Corrections of the last place; keys of a dictionary.
    pub(super) corrections: &'a mut [i64],
    /// Rows off the grid; ranks in a hash table.
    pub(super) exceptions: &'a mut [i64],
    /// Steps of timestamps; keys in a hash table.
    pub(super) steps: &'a mut [i64],
    /// Lengths of runs.
    pub(super) lengths: &'a mut [i64],
    /// A column of floats reduced to its runs.
    pub(super) floats: &'a mut [f64],
}

/// A slot of [`Scratch`] takes so many integers, and one float.
pub const SCRATCH_INTEGERS: usize = 5;

impl<'a> Scratch<'a> {
    /// Memory with as many slots as `floats` has, or a fifth of what `integers` has.
    pub fn new(integers: &'a mut [i64], floats: &'a mut [f64]) -> Self {
        let slots = floats.len().min(integers.len() / SCRATCH_INTEGERS);
        let mut parts = integers.chunks_exact_mut(slots.max(1));
        let mut part = || parts.next().unwrap_or_default();
        Self {
            numbers: part(),
            corrections: part(),
            exceptions: part(),
            steps: part(),
            lengths: part(),
            floats: floats.get_mut(..slots).unwrap_or_default(),
        }
    }

    /// The slots of every part.
    pub fn slots(&self) -> usize {
        self.floats.len()
    }

    /// Refuses memory that is too small for `rows`.
    pub(super) fn check(&self, rows: &Rows) -> Result<(), EncodeError> {
        let texts = if let Values::State { texts, .. } = rows.values { texts.len() } else { 0 };
        let needed = rows.len().max(texts);
        if self.slots() < needed { Err(EncodeError::Scratch { needed }) } else { Ok(()) }
    }
}
