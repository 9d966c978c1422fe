//! Definition blocks: names, kinds and units of new series. `docs/format.md`, chapter 5.
//!
//! The first one of a segment ends with a copy of the segment's header, for those who find block 0 damaged
//! and no footer.

use super::error::SegmentError;
use super::header::{HEADER_PAYLOAD_LEN, SegmentHeader};
use crate::block::{Block, Cursor, HEADER_LEN, PAYLOAD_MAX, Truncated};
use crate::codec::varint;
use crate::point::ValueKind;

/// Bytes of a unit at most.
pub const UNIT_LEN_MAX: usize = 255;
/// Bytes of a state's text at most.
pub const STATE_LEN_MAX: usize = 255;

const PREFIX_LEN: usize = 6;

/// One series as a definition block states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition<'a> {
    /// Canonical name.
    pub name: &'a str,
    /// Kind of the first value.
    pub kind: ValueKind,
    /// Unit, or empty.
    pub unit: &'a str,
}

/// Writes as many of `definitions` as fit into the payload of `block`; the first has index `first`.
///
/// The first block of a segment also takes a copy of its `header`. Gives how many, and the payload's length. One
/// always fits, since names and units are limited.
pub(super) fn encode<'d>(
    first: u32,
    definitions: impl Iterator<Item = Definition<'d>>,
    header: &SegmentHeader,
    block: &mut Block,
) -> (u16, u16) {
    let payload = block.split_at_mut(HEADER_LEN).1;
    let (mut count, mut len) = (0u16, PREFIX_LEN);
    let copy_len = if first == 0 { HEADER_PAYLOAD_LEN } else { 0 };
    for definition in definitions {
        let (name, unit) = (definition.name.as_bytes(), definition.unit.as_bytes());
        let wanted =
            1 + varint::len(name.len() as u64) + name.len() + varint::len(unit.len() as u64) + unit.len();
        if len + wanted + copy_len > PAYLOAD_MAX || count == u16::MAX {
            break;
        }
        payload[len] = definition.kind.code();
        len += 1;
        for text in [name, unit] {
            len += varint::write(text.len() as u64, payload.split_at_mut(len).1).unwrap_or(0);
            payload[len..len + text.len()].copy_from_slice(text);
            len += text.len();
        }
        count += 1;
    }
    if copy_len > 0 {
        payload[len..len + copy_len].copy_from_slice(&header.payload());
        len += copy_len;
    }
    payload[..4].copy_from_slice(&first.to_le_bytes());
    payload[4..6].copy_from_slice(&count.to_le_bytes());
    (count, len as u16)
}

/// Visits the definitions of a payload with their series indices.
///
/// # Errors
/// `Payload`, naming `block`; what was visited before stands.
#[cfg(feature = "alloc")]
pub(super) fn decode<'a>(
    payload: &'a [u8],
    block: u32,
    visit: impl FnMut(u32, Definition<'a>),
) -> Result<(), SegmentError> {
    decode_entries(payload, block, visit).map(|_| ())
}

/// The copy of the header's payload that a segment's first definition block ends with; `payload` is that of a
/// block that is said to be `block`.
pub(super) fn header_copy(payload: &[u8], block: u32) -> Result<&[u8], SegmentError> {
    let rest = decode_entries(payload, block, |_, _| {})?;
    if rest.len() == HEADER_PAYLOAD_LEN {
        Ok(rest)
    } else {
        Err(SegmentError::Payload { block, what: "copy of the header" })
    }
}

/// Visits the definitions of a payload; what follows them.
fn decode_entries<'a>(
    payload: &'a [u8],
    block: u32,
    mut visit: impl FnMut(u32, Definition<'a>),
) -> Result<&'a [u8], SegmentError> {
    let wrong = SegmentError::Payload { block, what: "definitions" };
    let short = |_: Truncated| wrong;
    let mut cursor = Cursor::new(payload);
    let first = cursor.u32().map_err(short)?;
    let count = cursor.u16().map_err(short)?;
    for at in 0..u32::from(count) {
        let kind = ValueKind::from_code(cursor.u8().map_err(short)?).ok_or(wrong)?;
        let mut text = || -> Result<&'a str, SegmentError> {
            let len = usize::try_from(cursor.varint().map_err(short)?).map_err(|_| wrong)?;
            core::str::from_utf8(cursor.take(len).map_err(short)?).map_err(|_| wrong)
        };
        let (name, unit) = (text()?, text()?);
        visit(first.checked_add(at).ok_or(wrong)?, Definition { name, kind, unit });
    }
    Ok(cursor.rest())
}

#[cfg(test)]
mod tests {
    use super::{Definition, decode, encode, header_copy};
    use crate::block::{BLOCK_LEN, HEADER_LEN, SegmentId};
    use crate::point::{TimeRange, ValueKind};
    use crate::segment::{SegmentHeader, SegmentKind};

    fn header() -> SegmentHeader {
        SegmentHeader {
            id: SegmentId { device: [9; 16], epoch: 2, number: 5 },
            kind: SegmentKind::InOrder,
            rank: 7,
            partition: TimeRange::new(0, 1_000),
            max_hold_ns: 1,
            covered_lsn: 0,
            writer: SegmentHeader::writer_name("test"),
        }
    }

    #[test]
    fn definitions_fill_a_block_and_come_back() {
        let names: Vec<String> = (0..500).map(|i| format!("temperature{{device=\"d{i}\"}}")).collect();
        let all = names.iter().map(|name| Definition { name, kind: ValueKind::Float, unit: "°C" });
        let mut block = [0; BLOCK_LEN];
        let (count, len) = encode(40, all, &header(), &mut block);
        assert!(count > 100 && count < 500);
        let mut next = 40;
        decode(&block[HEADER_LEN..HEADER_LEN + usize::from(len)], 1, |index, definition| {
            assert_eq!((index, definition.name), (next, names[next as usize - 40].as_str()));
            assert_eq!(definition.unit, "°C");
            next += 1;
        })
        .expect("valid");
        assert_eq!(next - 40, u32::from(count));
    }

    #[test]
    fn a_cut_definition_is_an_error() {
        let mut block = [0; BLOCK_LEN];
        let one = Definition { name: "a", kind: ValueKind::State, unit: "" };
        let (_, len) = encode(0, core::iter::once(one), &header(), &mut block);
        let whole = &block[HEADER_LEN..HEADER_LEN + usize::from(len)];
        assert_eq!(header_copy(whole, 1), Ok(&header().payload()[..]));
        for cut in 0..usize::from(len) {
            assert!(header_copy(&whole[..cut], 1).is_err());
        }
        for cut in 0..usize::from(len) - header().payload().len() {
            assert!(decode(&block[HEADER_LEN..HEADER_LEN + cut], 1, |_, _| {}).is_err());
        }
    }
}
