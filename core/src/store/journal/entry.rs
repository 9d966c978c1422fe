//! The entries of a record: series, identities, checkpoints and points as bytes.
//!
//! Layout: `docs/format-journal.md`, chapters 3 and 4. Timestamps are differences to the point before in
//! the same block, so a block can be read alone. Decoding is total and allocates only for the open
//! segments of a checkpoint, of which there are at most as many as bytes.

use alloc::vec::Vec;

use crate::block::{Cursor, Truncated};
use crate::point::{Value, ValueKind};
use crate::store::identity::Identity;
use crate::store::limits::{NAME_BYTES_MAX, STATE_BYTES_MAX, UNIT_BYTES_MAX};
use crate::store::written::{CAUSES, Written};

const TAG_SERIES: u8 = 1;
const TAG_IDENTITY: u8 = 2;
const TAG_CHECKPOINT: u8 = 3;
const TAG_POINT: u8 = 16;
const LATE_BIT: u8 = 8;

const FORM_FLOAT: u8 = 0;
const FORM_WHOLE: u8 = 1;
const FORM_INTEGER: u8 = 2;
const FORM_FALSE: u8 = 3;
const FORM_TRUE: u8 = 4;
const FORM_STATE: u8 = 5;
const FORM_GAP: u8 = 6;

/// Whole floats below this magnitude are shorter as a varint.
const WHOLE_MAX: f64 = 281_474_976_710_656.0;

/// A segment that is open at a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct OpenSegment {
    pub(in crate::store) epoch: u32,
    pub(in crate::store) number: u32,
    /// Blocks that are flushed.
    pub(in crate::store) block_count: u32,
}

/// What a checkpoint says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct Checkpoint {
    /// Every segment has a rank below this one.
    pub(in crate::store) rank: u64,
    /// Most identities that ever waited for one flush.
    pub(in crate::store) window: u64,
    /// Blocks written since the store was made.
    pub(in crate::store) written: Written,
    /// Records directly before this one that repeat identities.
    pub(in crate::store) carried: u64,
    /// The segments that are open.
    pub(in crate::store) open: Vec<OpenSegment>,
}

/// One entry of a record.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entry<'a> {
    Series { id: u32, kind: ValueKind, unit: &'a str, name: &'a str },
    Identity(Identity),
    Checkpoint(Checkpoint),
    Point { id: u32, is_late: bool, timestamp: i64, value: Value<'a> },
}

/// Bytes that no writer of this version produces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadEntry;

impl From<Truncated> for BadEntry {
    fn from(_: Truncated) -> Self {
        Self
    }
}

pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_zigzag(out: &mut Vec<u8>, value: i64) {
    put_varint(out, ((value << 1) ^ (value >> 63)) as u64);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// The whole number that says the same as `float` to the last bit, where that is shorter.
fn whole(float: f64) -> Option<i64> {
    if float.abs() >= WHOLE_MAX || float.is_nan() {
        return None;
    }
    let integer = float as i64;
    ((integer as f64).to_bits() == float.to_bits()).then_some(integer)
}

impl Entry<'_> {
    /// Appends the entry; `previous` is the timestamp of the point before it in the block.
    pub(super) fn encode(&self, previous: &mut i64, out: &mut Vec<u8>) {
        match self {
            Self::Series { id, kind, unit, name } => {
                out.push(TAG_SERIES);
                put_varint(out, u64::from(*id));
                out.push(kind.code());
                put_text(out, unit);
                put_text(out, name);
            }
            Self::Identity(identity) => {
                out.push(TAG_IDENTITY);
                out.extend_from_slice(&identity.session.to_le_bytes());
                out.extend_from_slice(&identity.packet.to_le_bytes());
                out.extend_from_slice(&identity.hash.to_le_bytes());
            }
            Self::Checkpoint(checkpoint) => {
                out.push(TAG_CHECKPOINT);
                put_varint(out, checkpoint.rank);
                put_varint(out, checkpoint.window);
                let written = checkpoint.written.by_cause();
                put_varint(out, written.len() as u64);
                written.iter().for_each(|(_, blocks)| put_varint(out, *blocks));
                put_varint(out, checkpoint.carried);
                put_varint(out, checkpoint.open.len() as u64);
                for open in &checkpoint.open {
                    put_varint(out, u64::from(open.epoch));
                    put_varint(out, u64::from(open.number));
                    put_varint(out, u64::from(open.block_count));
                }
            }
            Self::Point { id, is_late, timestamp, value } => {
                let tag_at = out.len();
                out.push(TAG_POINT | if *is_late { LATE_BIT } else { 0 });
                put_varint(out, u64::from(*id));
                put_zigzag(out, timestamp.wrapping_sub(*previous));
                *previous = *timestamp;
                out[tag_at] |= put_value(out, value);
            }
        }
    }

    /// The next entry; `previous` as in [`Entry::encode`].
    pub(super) fn decode<'a>(cursor: &mut Cursor<'a>, previous: &mut i64) -> Result<Entry<'a>, BadEntry> {
        match cursor.u8()? {
            TAG_SERIES => {
                let id = narrow(cursor.varint()?)?;
                let kind = ValueKind::from_code(cursor.u8()?).ok_or(BadEntry)?;
                let unit = text(cursor, UNIT_BYTES_MAX)?;
                let name = text(cursor, NAME_BYTES_MAX)?;
                Ok(Entry::Series { id, kind, unit, name })
            }
            TAG_IDENTITY => {
                let (session, packet, hash) = (cursor.u64()?, cursor.u16()?, cursor.u64()?);
                Ok(Entry::Identity(Identity { session, packet, hash }))
            }
            TAG_CHECKPOINT => {
                let (rank, window) = (cursor.varint()?, cursor.varint()?);
                // Causes that a later version may add are passed over.
                let mut counts = [0; CAUSES];
                for at in 0..cursor.varint()? {
                    let blocks = cursor.varint()?;
                    if let Some(count) = usize::try_from(at).ok().and_then(|at| counts.get_mut(at)) {
                        *count = blocks;
                    }
                }
                let written = Written::from_counts(counts);
                let carried = cursor.varint()?;
                let mut open = Vec::new();
                for _ in 0..cursor.varint()? {
                    let (epoch, number) = (narrow(cursor.varint()?)?, narrow(cursor.varint()?)?);
                    open.push(OpenSegment { epoch, number, block_count: narrow(cursor.varint()?)? });
                }
                Ok(Entry::Checkpoint(Checkpoint { rank, window, written, carried, open }))
            }
            tag if tag & !(LATE_BIT | 7) == TAG_POINT => {
                let id = narrow(cursor.varint()?)?;
                let timestamp = previous.wrapping_add(cursor.zigzag()?);
                *previous = timestamp;
                let value = value(cursor, tag & 7)?;
                Ok(Entry::Point { id, is_late: tag & LATE_BIT != 0, timestamp, value })
            }
            _ => Err(BadEntry),
        }
    }
}

fn put_value(out: &mut Vec<u8>, value: &Value<'_>) -> u8 {
    match value {
        Value::Float(float) => {
            if let Some(integer) = whole(*float) {
                put_zigzag(out, integer);
                return FORM_WHOLE;
            }
            out.extend_from_slice(&float.to_bits().to_le_bytes());
            FORM_FLOAT
        }
        Value::Integer(integer) => {
            put_zigzag(out, *integer);
            FORM_INTEGER
        }
        Value::Boolean(false) => FORM_FALSE,
        Value::Boolean(true) => FORM_TRUE,
        Value::State(text) => {
            put_text(out, text);
            FORM_STATE
        }
        Value::Gap => FORM_GAP,
    }
}

fn value<'a>(cursor: &mut Cursor<'a>, form: u8) -> Result<Value<'a>, BadEntry> {
    Ok(match form {
        FORM_FLOAT => Value::Float(f64::from_bits(cursor.u64()?)),
        FORM_WHOLE => Value::Float(cursor.zigzag()? as f64),
        FORM_INTEGER => Value::Integer(cursor.zigzag()?),
        FORM_FALSE => Value::Boolean(false),
        FORM_TRUE => Value::Boolean(true),
        FORM_STATE => Value::State(text(cursor, STATE_BYTES_MAX)?),
        FORM_GAP => Value::Gap,
        _ => return Err(BadEntry),
    })
}

fn narrow(value: u64) -> Result<u32, BadEntry> {
    u32::try_from(value).map_err(|_| BadEntry)
}

fn text<'a>(cursor: &mut Cursor<'a>, bytes_max: usize) -> Result<&'a str, BadEntry> {
    let len = usize::try_from(cursor.varint()?).map_err(|_| BadEntry)?;
    if len > bytes_max {
        return Err(BadEntry);
    }
    core::str::from_utf8(cursor.take(len)?).map_err(|_| BadEntry)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

    use super::{Checkpoint, Entry, OpenSegment};
    use crate::block::Cursor;
    use crate::point::{Value, ValueKind};
    use crate::store::identity::Identity;
    use crate::store::written::Written;

    fn values() -> impl Strategy<Value = Value<'static>> {
        prop_oneof![
            any::<u64>().prop_map(|bits| Value::Float(f64::from_bits(bits))),
            (-10_000i32..10_000).prop_map(|i| Value::Float(f64::from(i))),
            any::<i64>().prop_map(Value::Integer),
            any::<bool>().prop_map(Value::Boolean),
            prop_oneof![Just(""), Just("open"), Just("heizen °")].prop_map(Value::State),
            Just(Value::Gap),
            Just(Value::Float(-0.0)),
        ]
    }

    fn round_trip(entries: &[Entry<'_>]) {
        let (mut bytes, mut previous) = (Vec::new(), 0);
        entries.iter().for_each(|entry| entry.encode(&mut previous, &mut bytes));
        let (mut cursor, mut previous) = (Cursor::new(&bytes), 0);
        for entry in entries {
            let read = Entry::decode(&mut cursor, &mut previous).expect("what was written");
            match (entry, &read) {
                (Entry::Point { value: a, .. }, Entry::Point { value: b, .. }) if a.same_bits(b) => {
                    let strip = |e: &Entry<'_>| match e {
                        Entry::Point { id, is_late, timestamp, .. } => Some((*id, *is_late, *timestamp)),
                        _ => None,
                    };
                    assert_eq!(strip(entry), strip(&read));
                }
                _ => assert_eq!(entry, &read),
            }
        }
        assert!(cursor.rest().is_empty());
    }

    proptest! {
        #[test]
        fn points_come_back_bit_exact(
            points in proptest::collection::vec((any::<u32>(), any::<bool>(), any::<i64>(), values()), 1..40),
        ) {
            let entries: Vec<_> = points
                .into_iter()
                .map(|(id, is_late, timestamp, value)| Entry::Point { id, is_late, timestamp, value })
                .collect();
            round_trip(&entries);
        }

        #[test]
        fn any_bytes_end_in_entries_or_a_refusal(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let (mut cursor, mut previous) = (Cursor::new(&bytes), 0);
            while !cursor.rest().is_empty() && Entry::decode(&mut cursor, &mut previous).is_ok() {}
        }
    }

    #[test]
    fn everything_else_comes_back_too() {
        let written = Written::from_counts([u64::MAX, 1, 0, 300, 5]);
        let open = vec![OpenSegment { epoch: 3, number: u32::MAX, block_count: 0 }; 3];
        round_trip(&[
            Entry::Series { id: 300, kind: ValueKind::State, unit: "°C", name: "t{a=\"b\"}" },
            Entry::Identity(Identity { session: u64::MAX, packet: 7, hash: 1 }),
            Entry::Checkpoint(Checkpoint { rank: u64::MAX, window: 20, written, carried: 1, open }),
        ]);
    }

    #[test]
    fn a_count_that_was_read_allocates_nothing() {
        let mut bytes = vec![3, 0, 0, 0];
        super::put_varint(&mut bytes, u64::MAX);
        assert!(Entry::decode(&mut Cursor::new(&bytes), &mut 0).is_err());
    }
}
