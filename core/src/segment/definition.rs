//! Definition blocks: names, kinds and units of new series. `docs/format.md`, chapter 5.

use super::error::SegmentError;
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
/// Gives how many, and the payload's length. One always fits, since names and units are limited.
pub(super) fn encode<'d>(
    first: u32,
    definitions: impl Iterator<Item = Definition<'d>>,
    block: &mut Block,
) -> (u16, u16) {
    let payload = block.split_at_mut(HEADER_LEN).1;
    let (mut count, mut len) = (0u16, PREFIX_LEN);
    for definition in definitions {
        let (name, unit) = (definition.name.as_bytes(), definition.unit.as_bytes());
        let wanted =
            1 + varint::len(name.len() as u64) + name.len() + varint::len(unit.len() as u64) + unit.len();
        if len + wanted > PAYLOAD_MAX || count == u16::MAX {
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
    payload[..4].copy_from_slice(&first.to_le_bytes());
    payload[4..6].copy_from_slice(&count.to_le_bytes());
    (count, len as u16)
}

/// Visits the definitions of a payload with their series indices.
///
/// # Errors
/// `Payload`, naming `block`; what was visited before stands.
#[cfg_attr(not(feature = "alloc"), expect(dead_code, reason = "what reads needs a heap"))]
pub(super) fn decode<'a>(
    payload: &'a [u8],
    block: u32,
    mut visit: impl FnMut(u32, Definition<'a>),
) -> Result<(), SegmentError> {
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
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Definition, decode, encode};
    use crate::block::{BLOCK_LEN, HEADER_LEN};
    use crate::point::ValueKind;

    #[test]
    fn definitions_fill_a_block_and_come_back() {
        let names: Vec<String> = (0..500).map(|i| format!("temperature{{device=\"d{i}\"}}")).collect();
        let all = names.iter().map(|name| Definition { name, kind: ValueKind::Float, unit: "°C" });
        let mut block = [0; BLOCK_LEN];
        let (count, len) = encode(40, all, &mut block);
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
        let (_, len) = encode(0, core::iter::once(one), &mut block);
        for cut in 0..usize::from(len) {
            assert!(decode(&block[HEADER_LEN..HEADER_LEN + cut], 1, |_, _| {}).is_err());
        }
    }
}
