//! A decoded chunk in vectors that are used again and again, and scratch memory likewise.

use super::{
    Codec, CodecError, Decoded, Rows, RowsMut, SCRATCH_INTEGERS, Scratch, Values, ValuesMut, decode_into,
};
use crate::point::{Point, Timestamp, Value, ValueKind};
use alloc::{string::String, vec::Vec};
use core::ops::Range;

/// Decoded values.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum OwnedValues {
    /// Floats.
    Float(Vec<f64>),
    /// Integers that floats can't hold.
    Integer(Vec<i64>),
    /// True or false.
    Boolean(Vec<bool>),
    /// Short texts.
    State {
        /// For each row the position of its text.
        codes: Vec<u16>,
        /// The texts.
        texts: Vec<String>,
    },
}

impl Default for OwnedValues {
    fn default() -> Self {
        Self::Float(Vec::new())
    }
}

impl OwnedValues {
    /// Their kind.
    pub const fn kind(&self) -> ValueKind {
        match self {
            Self::Float(_) => ValueKind::Float,
            Self::Integer(_) => ValueKind::Integer,
            Self::Boolean(_) => ValueKind::Boolean,
            Self::State { .. } => ValueKind::State,
        }
    }

    /// `count` slots for values of `kind`; memory is kept where the kind stays the same.
    fn prepare(&mut self, kind: ValueKind, count: usize) {
        if self.kind() != kind {
            *self = match kind {
                ValueKind::Float => Self::Float(Vec::new()),
                ValueKind::Integer => Self::Integer(Vec::new()),
                ValueKind::Boolean => Self::Boolean(Vec::new()),
                ValueKind::State => Self::State { codes: Vec::new(), texts: Vec::new() },
            };
        }
        match self {
            Self::Float(values) => values.resize(count, 0.0),
            Self::Integer(values) => values.resize(count, 0),
            Self::Boolean(values) => values.resize(count, false),
            Self::State { codes, .. } => codes.resize(count, 0),
        }
    }
}

/// A decoded chunk. Decoding into the same one again allocates only where it grows.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    /// Nanoseconds since the epoch.
    pub timestamps: Vec<i64>,
    /// As many values; at a gap the value before it is repeated.
    pub values: OwnedValues,
    /// Row numbers that hold no value, ascending.
    pub gaps: Vec<u16>,
    scratch: Vec<i64>,
}

impl Chunk {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.timestamps.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.timestamps.is_empty()
    }

    /// The value of a row; `None` behind the last.
    pub fn value(&self, row: usize) -> Option<Value<'_>> {
        if u16::try_from(row).is_ok_and(|row| self.gaps.binary_search(&row).is_ok()) {
            return Some(Value::Gap);
        }
        Some(match &self.values {
            OwnedValues::Float(values) => Value::Float(*values.get(row)?),
            OwnedValues::Integer(values) => Value::Integer(*values.get(row)?),
            OwnedValues::Boolean(values) => Value::Boolean(*values.get(row)?),
            OwnedValues::State { codes, texts } => Value::State(texts.get(usize::from(*codes.get(row)?))?),
        })
    }

    /// All rows in their order, gaps included.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = Point<'_>> {
        self.timestamps.iter().enumerate().map(|(row, &timestamp)| Point {
            timestamp: Timestamp(timestamp),
            value: self.value(row).unwrap_or(Value::Gap),
        })
    }

    /// Takes rows out; those beyond the end are none.
    pub fn remove(&mut self, rows: Range<usize>) {
        let end = rows.end.min(self.len());
        let rows = rows.start.min(end)..end;
        self.timestamps.drain(rows.clone());
        match &mut self.values {
            OwnedValues::Float(values) => drop(values.drain(rows.clone())),
            OwnedValues::Integer(values) => drop(values.drain(rows.clone())),
            OwnedValues::Boolean(values) => drop(values.drain(rows.clone())),
            OwnedValues::State { codes, .. } => drop(codes.drain(rows.clone())),
        }
        self.gaps.retain(|gap| !rows.contains(&usize::from(*gap)));
        let len = u16::try_from(rows.len()).unwrap_or(u16::MAX);
        let behind = self.gaps.iter_mut().filter(|gap| usize::from(**gap) >= rows.end);
        behind.for_each(|gap| *gap = gap.saturating_sub(len));
    }

    /// The rows as they are encoded; the texts of states are lent through `texts`.
    pub fn rows<'a>(&'a self, texts: &'a mut Vec<&'a str>) -> Rows<'a> {
        let values = match &self.values {
            OwnedValues::Float(values) => Values::Float(values),
            OwnedValues::Integer(values) => Values::Integer(values),
            OwnedValues::Boolean(values) => Values::Boolean(values),
            OwnedValues::State { codes, texts: owned } => {
                texts.clear();
                texts.extend(owned.iter().map(String::as_str));
                Values::State { codes, texts }
            }
        };
        Rows { timestamps: &self.timestamps, values, gaps: &self.gaps }
    }

    fn decode<'a>(&mut self, bytes: &'a [u8], count: u16, begin: i64) -> Result<Decoded<'a>, CodecError> {
        let rows = usize::from(count);
        self.values.prepare(Codec::of(bytes)?.kind, rows);
        self.timestamps.resize(rows, 0);
        self.gaps.resize(rows, 0);
        self.scratch.resize(rows, 0);
        let values = match &mut self.values {
            OwnedValues::Float(values) => ValuesMut::Float(values),
            OwnedValues::Integer(values) => ValuesMut::Integer(values),
            OwnedValues::Boolean(values) => ValuesMut::Boolean(values),
            OwnedValues::State { codes, .. } => ValuesMut::State(codes),
        };
        let out = RowsMut {
            timestamps: &mut self.timestamps,
            values,
            gaps: &mut self.gaps,
            scratch: &mut self.scratch,
        };
        let decoded = decode_into(bytes, count, begin, out)?;
        self.gaps.truncate(decoded.gaps);
        if let OwnedValues::State { texts, .. } = &mut self.values {
            texts.clear();
            texts.extend(decoded.texts.clone().map(String::from));
        }
        Ok(decoded)
    }

    fn clear(&mut self) {
        self.values.prepare(self.values.kind(), 0);
        self.timestamps.clear();
        self.gaps.clear();
    }
}

/// Decodes the chunk `bytes` of `count` rows that begin at `begin` into `out`.
///
/// # Errors
///
/// [`CodecError`] for bytes that are not such a chunk; `out` is then empty.
pub fn decode(bytes: &[u8], count: u16, begin: i64, out: &mut Chunk) -> Result<(), CodecError> {
    let decoded = out.decode(bytes, count, begin).map(|_| ());
    if decoded.is_err() {
        out.clear();
    }
    decoded
}

/// What a chunk is made of, for tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// What its columns use.
    pub codec: Codec,
    /// Bytes of timestamps.
    pub timestamp_len: usize,
    /// Bytes of values, lengths of runs included.
    pub value_len: usize,
    /// The rest: the codec bytes and the list of gaps.
    pub overhead_len: usize,
}

/// Decodes a chunk of `count` rows and says what its bytes are spent on.
///
/// # Errors
///
/// Those of [`decode`].
pub fn describe(bytes: &[u8], count: u16) -> Result<Description, CodecError> {
    let decoded = Chunk::default().decode(bytes, count, 0)?;
    let (timestamp_len, value_len) = (decoded.timestamp_len, decoded.value_len);
    let overhead_len = bytes.len() - timestamp_len - value_len;
    Ok(Description { codec: decoded.codec, timestamp_len, value_len, overhead_len })
}

/// Scratch memory that grows to what is asked for.
#[derive(Clone, Debug, Default)]
pub struct ScratchBuffer {
    integers: Vec<i64>,
    floats: Vec<f64>,
}

impl ScratchBuffer {
    /// Scratch memory of at least `slots`.
    pub fn lend(&mut self, slots: usize) -> Scratch<'_> {
        let slots = slots.max(self.floats.len());
        // Just as much: for a full chunk it is three megabytes.
        self.integers.reserve_exact(slots * SCRATCH_INTEGERS - self.integers.len());
        self.floats.reserve_exact(slots - self.floats.len());
        self.integers.resize(slots * SCRATCH_INTEGERS, 0);
        self.floats.resize(slots, 0.0);
        Scratch::new(&mut self.integers, &mut self.floats)
    }
}
