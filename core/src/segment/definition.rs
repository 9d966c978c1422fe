//! Definition blocks: names, kinds and units of new series. `docs/format.md`, chapter 5.
//!
//! A name is written as what it differs by from the one before in its block: the fields of a device share their tags,
//! the series of a metric its name. The first definition block of a segment ends with a copy of the segment's header, for
//! those who find block 0 damaged and no footer.

use super::error::SegmentError;
use super::header::{HEADER_PAYLOAD_LEN, SegmentHeader};
use crate::block::{Block, Cursor, HEADER_LEN, PAYLOAD_MAX, Truncated};
use crate::codec::varint;
use crate::point::ValueKind;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// Bytes of a unit at most.
pub const UNIT_LEN_MAX: usize = 255;
/// Bytes of a state's text at most.
pub const STATE_LEN_MAX: usize = 255;

/// Bytes of all names of a block, written out: bounds what a block of shared beginnings can become in memory.
const NAMES_LEN_MAX: usize = 65_536;

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
    let (mut before, mut names_len): (&[u8], usize) = (&[], 0);
    let copy_len = if first == 0 { HEADER_PAYLOAD_LEN } else { 0 };
    for definition in definitions {
        let (name, unit) = (definition.name.as_bytes(), definition.unit.as_bytes());
        let is_same = |(a, b): &(&u8, &u8)| a == b;
        let head = name.iter().zip(before).take_while(is_same).count();
        let behind = (name.split_at(head).1, before.split_at(head).1);
        let tail = behind.0.iter().rev().zip(behind.1.iter().rev()).take_while(is_same).count();
        let rest = behind.0.split_at(behind.0.len() - tail).0;
        let texts = varint::len(rest.len() as u64) + rest.len() + varint::len(unit.len() as u64) + unit.len();
        let wanted = 1 + varint::len(head as u64) + varint::len(tail as u64) + texts;
        names_len += name.len();
        if len + wanted + copy_len > PAYLOAD_MAX || names_len > NAMES_LEN_MAX || count == u16::MAX {
            break;
        }
        payload[len] = definition.kind.code();
        len += 1;
        for shared in [head, tail] {
            len += varint::write(shared as u64, payload.split_at_mut(len).1).unwrap_or(0);
        }
        for text in [rest, unit] {
            len += varint::write(text.len() as u64, payload.split_at_mut(len).1).unwrap_or(0);
            payload[len..len + text.len()].copy_from_slice(text);
            len += text.len();
        }
        before = name;
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
pub(super) fn decode(
    payload: &[u8],
    block: u32,
    mut visit: impl FnMut(u32, Definition<'_>),
) -> Result<(), SegmentError> {
    let wrong = SegmentError::Payload { block, what: "definitions" };
    let (mut before, mut names_len, mut is_wrong) = (Vec::new(), 0_usize, false);
    decode_entries(payload, block, |index, entry| {
        let (head, tail) = (before.get(..entry.head), before.len().checked_sub(entry.tail));
        let (Some(head), Some(tail)) = (head, tail.and_then(|at| before.get(at..))) else {
            is_wrong = true;
            return;
        };
        names_len = names_len.saturating_add(head.len() + entry.rest.len() + tail.len());
        if names_len > NAMES_LEN_MAX {
            is_wrong = true;
            return;
        }
        let name = [head, entry.rest, tail].concat();
        match core::str::from_utf8(&name) {
            Ok(name) if !is_wrong => visit(index, Definition { name, kind: entry.kind, unit: entry.unit }),
            _ => is_wrong = true,
        }
        before = name;
    })?;
    if is_wrong { Err(wrong) } else { Ok(()) }
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

/// A definition as it is written.
#[cfg_attr(not(feature = "alloc"), expect(dead_code, reason = "without a heap, entries are passed over"))]
struct Entry<'a> {
    kind: ValueKind,
    /// Bytes of the name before that this one begins with, and ends with.
    head: usize,
    tail: usize,
    rest: &'a [u8],
    unit: &'a str,
}

/// Visits the entries of a payload; what follows them.
fn decode_entries<'a>(
    payload: &'a [u8],
    block: u32,
    mut visit: impl FnMut(u32, Entry<'a>),
) -> Result<&'a [u8], SegmentError> {
    let wrong = SegmentError::Payload { block, what: "definitions" };
    let short = |_: Truncated| wrong;
    let mut cursor = Cursor::new(payload);
    let first = cursor.u32().map_err(short)?;
    let count = cursor.u16().map_err(short)?;
    for at in 0..u32::from(count) {
        let kind = ValueKind::from_code(cursor.u8().map_err(short)?).ok_or(wrong)?;
        let mut number = || usize::try_from(cursor.varint().map_err(short)?).map_err(|_| wrong);
        let (head, tail) = (number()?, number()?);
        let mut text = || -> Result<&'a [u8], SegmentError> {
            let len = usize::try_from(cursor.varint().map_err(short)?).map_err(|_| wrong)?;
            cursor.take(len).map_err(short)
        };
        let (rest, unit) = (text()?, text()?);
        let unit = core::str::from_utf8(unit).map_err(|_| wrong)?;
        visit(first.checked_add(at).ok_or(wrong)?, Entry { kind, head, tail, rest, unit });
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
        assert!(count > 300 && count < 500, "{count}");
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
    fn names_are_written_as_what_they_differ_by() {
        let long = "x".repeat(1_500);
        let names: Vec<String> = (0..500).map(|i| format!("{}ü{i}{long}", &long[..i % 9])).collect();
        let all = names.iter().map(|name| Definition { name, kind: ValueKind::Float, unit: "" });
        let mut block = [0; BLOCK_LEN];
        let (count, len) = encode(1, all, &header(), &mut block);
        // Their text together is what bounds the block, not what is written of it.
        let written_out: usize = names[..usize::from(count)].iter().map(String::len).sum();
        assert!(written_out <= 65_536 && written_out > 64_000, "{count} names, {written_out} bytes");
        assert!(usize::from(len) < 2_000 + 20 * usize::from(count), "{len} bytes");
        let mut next = 0;
        let payload = &mut block[HEADER_LEN..HEADER_LEN + usize::from(len)];
        decode(payload, 1, |_, definition| {
            assert_eq!(definition.name, names[next]);
            next += 1;
        })
        .expect("valid");
        assert_eq!(next, usize::from(count));
        // The first name can share nothing, at neither end.
        for at in [7, 8] {
            payload[at] = 1;
            assert!(decode(payload, 1, |_, _| {}).is_err());
            payload[at] = 0;
        }
        assert!(decode(payload, 1, |_, _| {}).is_ok());
    }

    #[test]
    fn shared_beginnings_do_not_become_more_than_a_block_may() {
        let name = "y".repeat(1_000);
        let first = [0, 0, 0, 0, 200, 0, 0, 0, 0, 0xE8, 7];
        let mut payload = first.to_vec();
        payload.extend_from_slice(name.as_bytes());
        payload.push(0);
        // Each of the others is the first one again.
        (1..200).for_each(|_| payload.extend_from_slice(&[0, 0x90, 3, 0xD8, 4, 0, 0]));
        let mut visited = 0;
        assert!(decode(&payload, 1, |_, _| visited += 1).is_err());
        assert_eq!(visited, 65);
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
