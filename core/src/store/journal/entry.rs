//! The entries of a record: series, identities, checkpoints and points as bytes.
//!
//! Layout: `docs/format-journal.md`, chapters 3 and 4. Points and identities are differences to the ones before in
//! the same block, so a block can be read alone. Decoding is total and allocates only for the open
//! segments of a checkpoint, of which there are at most as many as bytes.

use alloc::vec::Vec;

use super::value::{put_value, value};
use crate::block::{Cursor, Truncated};
use crate::point::{Value, ValueKind};
use crate::store::expire::Aged;
use crate::store::identity::{HASH_LEN, Identity};
use crate::store::limits::{NAME_BYTES_MAX, UNIT_BYTES_MAX};
use crate::store::written::{CAUSES, Meter, Written};

const TAG_SERIES: u8 = 1;
const TAG_IDENTITY: u8 = 2;
const TAG_CHECKPOINT: u8 = 3;
const TAG_IDENTITY_OF_SESSION: u8 = 4;
const TAG_IDENTITY_NEXT: u8 = 5;
const TAG_POINT: u8 = 0x80;
const LATE_BIT: u8 = 0x40;
const MILLISECONDS_BIT: u8 = 0x20;
const FORM_MASK: u8 = 0x1f;

const MILLISECOND_NS: i64 = 1_000_000;

/// Counts of a checkpoint: blocks by cause, then what went by its age, then the meter.
const COUNTS: usize = CAUSES + 2 + 4;

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
    /// The partition that went last by its age.
    pub(in crate::store) aged: Option<Aged>,
    /// What was written in a known span of time.
    pub(in crate::store) meter: Option<Meter>,
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

/// What an entry is a difference to: the entries before it in the block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    /// Id and timestamp of the last point.
    series: u32,
    timestamp: i64,
    /// The last identity's.
    session: Option<u64>,
    packet: u16,
    /// Decimals of the last float that has some: the writer's first guess, and nothing that is read depends on it.
    decimals: u8,
}

pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(super) fn put_zigzag(out: &mut Vec<u8>, value: i64) {
    put_varint(out, zigzag(value));
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// What a checkpoint says in numbers; zeros where there is nothing to say.
fn counts_of(checkpoint: &Checkpoint) -> [u64; COUNTS] {
    let Written { journal, leaves, nodes, tails, merges } = checkpoint.written;
    let aged = checkpoint.aged.map_or([0; 2], |aged| [zigzag(aged.begin), zigzag(aged.since_ns)]);
    let meter = checkpoint.meter.map_or([0; 4], |meter| {
        [zigzag(meter.begin_ns), meter.begin_blocks, zigzag(meter.end_ns), meter.end_blocks]
    });
    let [aged_begin, since] = aged;
    let [begin, begin_blocks, end, end_blocks] = meter;
    [journal, leaves, nodes, tails, merges, aged_begin, since, begin, begin_blocks, end, end_blocks]
}

pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

impl Entry<'_> {
    /// Appends the entry, and notes it for the next one.
    pub(super) fn encode(&self, before: &mut Before, out: &mut Vec<u8>) {
        match self {
            Self::Series { id, kind, unit, name } => {
                out.push(TAG_SERIES);
                put_varint(out, u64::from(*id));
                out.push(kind.code());
                put_text(out, unit);
                put_text(out, name);
            }
            Self::Identity(identity) => put_identity(identity, before, out),
            Self::Checkpoint(checkpoint) => {
                out.push(TAG_CHECKPOINT);
                put_varint(out, checkpoint.rank);
                put_varint(out, checkpoint.window);
                put_varint(out, COUNTS as u64);
                counts_of(checkpoint).into_iter().for_each(|count| put_varint(out, count));
                put_varint(out, checkpoint.carried);
                put_varint(out, checkpoint.open.len() as u64);
                for open in &checkpoint.open {
                    put_varint(out, u64::from(open.epoch));
                    put_varint(out, u64::from(open.number));
                    put_varint(out, u64::from(open.block_count));
                }
            }
            Self::Point { id, is_late, timestamp, value } => {
                let mut tag = TAG_POINT | if *is_late { LATE_BIT } else { 0 };
                let tag_at = out.len();
                out.push(tag);
                put_zigzag(out, i64::from(*id) - i64::from(before.series));
                let difference = timestamp.wrapping_sub(before.timestamp);
                if difference % MILLISECOND_NS == 0 {
                    tag |= MILLISECONDS_BIT;
                    put_zigzag(out, difference / MILLISECOND_NS);
                } else {
                    put_zigzag(out, difference);
                }
                (before.series, before.timestamp) = (*id, *timestamp);
                tag |= put_value(out, value, &mut before.decimals);
                if let Some(byte) = out.get_mut(tag_at) {
                    *byte = tag;
                }
            }
        }
    }

    /// The next entry; `before` as in [`Entry::encode`].
    pub(super) fn decode<'a>(cursor: &mut Cursor<'a>, before: &mut Before) -> Result<Entry<'a>, BadEntry> {
        match cursor.u8()? {
            TAG_SERIES => {
                let id = narrow(cursor.varint()?)?;
                let kind = ValueKind::from_code(cursor.u8()?).ok_or(BadEntry)?;
                let unit = text(cursor, UNIT_BYTES_MAX)?;
                let name = text(cursor, NAME_BYTES_MAX)?;
                Ok(Entry::Series { id, kind, unit, name })
            }
            tag @ (TAG_IDENTITY | TAG_IDENTITY_OF_SESSION | TAG_IDENTITY_NEXT) => {
                identity(tag, cursor, before).map(Entry::Identity)
            }
            TAG_CHECKPOINT => checkpoint(cursor).map(Entry::Checkpoint),
            tag if tag & TAG_POINT != 0 => {
                let id = i64::from(before.series).checked_add(cursor.zigzag()?).ok_or(BadEntry)?;
                let id = u32::try_from(id).map_err(|_| BadEntry)?;
                let unit_ns = if tag & MILLISECONDS_BIT != 0 { MILLISECOND_NS } else { 1 };
                let timestamp = before.timestamp.wrapping_add(cursor.zigzag()?.wrapping_mul(unit_ns));
                (before.series, before.timestamp) = (id, timestamp);
                let value = value(cursor, tag & FORM_MASK)?;
                Ok(Entry::Point { id, is_late: tag & LATE_BIT != 0, timestamp, value })
            }
            _ => Err(BadEntry),
        }
    }
}

fn put_identity(identity: &Identity, before: &mut Before, out: &mut Vec<u8>) {
    let Identity { session, packet, hash } = *identity;
    if before.session != Some(session) {
        out.push(TAG_IDENTITY);
        out.extend_from_slice(&session.to_le_bytes());
        out.extend_from_slice(&packet.to_le_bytes());
    } else if packet == before.packet.wrapping_add(1) {
        out.push(TAG_IDENTITY_NEXT);
    } else {
        out.push(TAG_IDENTITY_OF_SESSION);
        out.extend_from_slice(&packet.to_le_bytes());
    }
    out.extend_from_slice(&hash);
    (before.session, before.packet) = (Some(session), packet);
}

fn identity(tag: u8, cursor: &mut Cursor<'_>, before: &mut Before) -> Result<Identity, BadEntry> {
    let session = if tag == TAG_IDENTITY { cursor.u64()? } else { before.session.ok_or(BadEntry)? };
    let packet = if tag == TAG_IDENTITY_NEXT { before.packet.wrapping_add(1) } else { cursor.u16()? };
    let hash = *cursor.take(HASH_LEN)?.first_chunk().ok_or(BadEntry)?;
    (before.session, before.packet) = (Some(session), packet);
    Ok(Identity { session, packet, hash })
}

fn checkpoint(cursor: &mut Cursor<'_>) -> Result<Checkpoint, BadEntry> {
    let (rank, window) = (cursor.varint()?, cursor.varint()?);
    // Counts that a later version may add are passed over, and those that an earlier one did not know are 0.
    let mut counts = [0; COUNTS];
    for at in 0..cursor.varint()? {
        let value = cursor.varint()?;
        if let Some(count) = usize::try_from(at).ok().and_then(|at| counts.get_mut(at)) {
            *count = value;
        }
    }
    let [journal, leaves, nodes, tails, merges, aged @ .., begin, begin_blocks, end, end_blocks] = counts;
    let written = Written { journal, leaves, nodes, tails, merges };
    let [aged_begin, since] = aged.map(unzigzag);
    let aged = (since != 0).then_some(Aged { begin: aged_begin, since_ns: since });
    let (begin_ns, end_ns) = (unzigzag(begin), unzigzag(end));
    let meter = (begin_ns != 0).then_some(Meter { begin_ns, begin_blocks, end_ns, end_blocks });
    let carried = cursor.varint()?;
    let mut open = Vec::new();
    for _ in 0..cursor.varint()? {
        let (epoch, number) = (narrow(cursor.varint()?)?, narrow(cursor.varint()?)?);
        open.push(OpenSegment { epoch, number, block_count: narrow(cursor.varint()?)? });
    }
    Ok(Checkpoint { rank, window, written, aged, meter, carried, open })
}

fn narrow(value: u64) -> Result<u32, BadEntry> {
    u32::try_from(value).map_err(|_| BadEntry)
}

pub(super) fn text<'a>(cursor: &mut Cursor<'a>, bytes_max: usize) -> Result<&'a str, BadEntry> {
    let len = usize::try_from(cursor.varint()?).map_err(|_| BadEntry)?;
    if len > bytes_max {
        return Err(BadEntry);
    }
    core::str::from_utf8(cursor.take(len)?).map_err(|_| BadEntry)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

    use super::{Before, Checkpoint, Entry, OpenSegment};
    use crate::block::Cursor;
    use crate::point::{Value, ValueKind};
    use crate::store::expire::Aged;
    use crate::store::identity::Identity;
    use crate::store::written::{Meter, Written};

    fn values() -> impl Strategy<Value = Value<'static>> {
        prop_oneof![
            any::<u64>().prop_map(|bits| Value::Float(f64::from_bits(bits))),
            (-10_000i32..10_000).prop_map(|i| Value::Float(f64::from(i))),
            (any::<i32>(), 0i32..12)
                .prop_map(|(i, decimals)| Value::Float(f64::from(i) / 10f64.powi(decimals))),
            any::<i64>().prop_map(Value::Integer),
            any::<bool>().prop_map(Value::Boolean),
            prop_oneof![Just(""), Just("open"), Just("heizen °")].prop_map(Value::State),
            Just(Value::Gap),
            Just(Value::Float(-0.0)),
        ]
    }

    fn times() -> impl Strategy<Value = i64> {
        prop_oneof![any::<i64>(), (0i64..2_000_000_000_000).prop_map(|ms| ms * 1_000_000), Just(i64::MIN)]
    }

    fn round_trip(entries: &[Entry<'_>]) {
        let (mut bytes, mut before) = (Vec::new(), Before::default());
        entries.iter().for_each(|entry| entry.encode(&mut before, &mut bytes));
        let (mut cursor, mut before) = (Cursor::new(&bytes), Before::default());
        for entry in entries {
            let read = Entry::decode(&mut cursor, &mut before).expect("what was written");
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
            points in proptest::collection::vec((any::<u32>(), any::<bool>(), times(), values()), 1..40),
        ) {
            let entries: Vec<_> = points
                .into_iter()
                .map(|(id, is_late, timestamp, value)| Entry::Point { id, is_late, timestamp, value })
                .collect();
            round_trip(&entries);
        }

        #[test]
        fn any_bytes_end_in_entries_or_a_refusal(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let (mut cursor, mut before) = (Cursor::new(&bytes), Before::default());
            while !cursor.rest().is_empty() && Entry::decode(&mut cursor, &mut before).is_ok() {}
        }
    }

    #[test]
    fn everything_else_comes_back_too() {
        let written = Written { journal: u64::MAX, leaves: 1, nodes: 0, tails: 300, merges: 5 };
        let aged = Some(Aged { begin: i64::MIN, since_ns: i64::MAX });
        let meter = Some(Meter { begin_ns: -1, begin_blocks: 7, end_ns: 1 << 60, end_blocks: u64::MAX });
        let open = vec![OpenSegment { epoch: 3, number: u32::MAX, block_count: 0 }; 3];
        round_trip(&[
            Entry::Series { id: 300, kind: ValueKind::State, unit: "°C", name: "t{a=\"b\"}" },
            Entry::Identity(Identity { session: u64::MAX, packet: u16::MAX, hash: [1; 5] }),
            Entry::Identity(Identity { session: u64::MAX, packet: 0, hash: [0, 1, 2, 3, 255] }),
            Entry::Identity(Identity { session: u64::MAX, packet: 0, hash: [0; 5] }),
            Entry::Identity(Identity { session: 0, packet: 1, hash: [0; 5] }),
            Entry::Checkpoint(Checkpoint::default()),
            Entry::Checkpoint(Checkpoint {
                rank: u64::MAX,
                window: 20,
                written,
                aged,
                meter,
                carried: 1,
                open,
            }),
        ]);
    }

    #[test]
    fn a_checkpoint_of_fewer_or_more_counts_is_read() {
        let written = Written { journal: 1, leaves: 2, nodes: 3, tails: 4, merges: 5 };
        fn read(bytes: &[u8]) -> Option<Checkpoint> {
            match Entry::decode(&mut Cursor::new(bytes), &mut Before::default()) {
                Ok(Entry::Checkpoint(checkpoint)) => Some(checkpoint),
                _ => None,
            }
        }
        let old = Checkpoint { rank: 9, window: 8, written, carried: 1, ..Checkpoint::default() };
        assert_eq!(read(&[3, 9, 8, 5, 1, 2, 3, 4, 5, 1, 0]), Some(old.clone()));
        let aged = Some(Aged { begin: -1, since_ns: 2 });
        let meter = Some(Meter { begin_ns: 3, begin_blocks: 10, end_ns: 4, end_blocks: 11 });
        let new = Checkpoint { aged, meter, ..old };
        assert_eq!(read(&[3, 9, 8, 12, 1, 2, 3, 4, 5, 1, 4, 6, 10, 8, 11, 99, 1, 0]), Some(new));
    }

    #[test]
    fn a_count_that_was_read_allocates_nothing() {
        let mut bytes = vec![3, 0, 0, 0];
        super::put_varint(&mut bytes, u64::MAX);
        assert!(Entry::decode(&mut Cursor::new(&bytes), &mut Before::default()).is_err());
    }
}
