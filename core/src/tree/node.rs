//! An inner node: the references of one series and level, in time order; small ones share a block.
//! `docs/format.md`, chapter 9.

#[cfg(feature = "alloc")]
use super::TableError;
use super::reference::Reference;
use super::summary::{Laws, Summary};
use super::table;
#[cfg(feature = "alloc")]
use crate::block::Cursor;
use crate::block::{Block, HEADER_LEN};
#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// References of a node at most.
pub const FAN_OUT_MAX: usize = 256;
/// Levels of inner nodes at most.
pub const LEVELS_MAX: u8 = 8;

/// Series index and level stand before the table.
const PREFIX_LEN: usize = 5;

/// Codes `references`, all of one series and of level `level − 1`, as the payload of `block`.
///
/// Gives the payload's length, or `None` where they don't fit: then the caller takes fewer.
pub fn encode(references: &[Reference], series: u32, level: u8, block: &mut Block) -> Option<u16> {
    if references.len() > FAN_OUT_MAX {
        return None;
    }
    let payload = block.split_at_mut(HEADER_LEN).1;
    let (prefix, rest) = payload.split_at_mut(PREFIX_LEN);
    prefix[..4].copy_from_slice(&series.to_le_bytes());
    prefix[4] = level;
    let len = table::encode(references, false, &mut [0; FAN_OUT_MAX], rest)?;
    u16::try_from(PREFIX_LEN + len).ok()
}

/// How many of `references`, from the first on, fit one node. At least 1 where there are any.
pub fn fit(references: &[Reference]) -> usize {
    let room = crate::block::PAYLOAD_MAX - PREFIX_LEN;
    let fits = |count: usize| {
        references
            .get(..count)
            .and_then(|some| table::encoded_len(some, false, &mut [0; FAN_OUT_MAX]))
            .is_some_and(|len| len <= room)
    };
    let most = references.len().min(FAN_OUT_MAX);
    if most == 0 || fits(most) {
        return most;
    }
    // Bytes grow nearly evenly with references: bisection settles within a few tables.
    let (mut low, mut high) = (1, most);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The summary of all `references`, as a reader of the node will see it.
pub fn summary_of(references: &[Reference], laws: &Laws) -> Summary {
    references.iter().fold(Summary::EMPTY, |all, reference| {
        let mut summary = reference.summary;
        summary.numbers = summary.numbers.map(|numbers| numbers.trimmed());
        all.combine(&summary, laws)
    })
}

/// What an inner node holds.
#[cfg(feature = "alloc")]
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Series index inside the segment.
    pub series: u32,
    /// 1 where the references name chunks.
    pub level: u8,
    /// In time order.
    pub references: Vec<Reference>,
}

/// Decodes the inner node that begins at byte `slot` of a payload.
///
/// # Errors
/// Whatever makes it none; memory is bounded by [`FAN_OUT_MAX`] references.
#[cfg(feature = "alloc")]
pub fn decode(payload: &[u8], slot: u16) -> Result<Node, TableError> {
    read(&mut Cursor::new(payload.get(usize::from(slot)..).unwrap_or_default()))
}

/// All inner nodes of a payload, each with its slot; behind one that can't be decoded comes nothing.
#[cfg(feature = "alloc")]
pub fn all(payload: &[u8]) -> impl Iterator<Item = Result<(u16, Node), TableError>> {
    let mut rest = Some(payload);
    core::iter::from_fn(move || {
        let from = rest.take().filter(|rest| !rest.is_empty() || payload.is_empty())?;
        let mut cursor = Cursor::new(from);
        let node = read(&mut cursor);
        rest = node.is_ok().then_some(cursor.rest());
        // A payload is shorter than 65,536 bytes, as its header says.
        let slot = u16::try_from(payload.len().saturating_sub(from.len())).unwrap_or(u16::MAX);
        Some(node.map(|node| (slot, node)))
    })
}

#[cfg(feature = "alloc")]
fn read(cursor: &mut Cursor<'_>) -> Result<Node, TableError> {
    let series = cursor.u32()?;
    let level = cursor.u8()?;
    if level == 0 || level > LEVELS_MAX {
        return Err(TableError::Limit);
    }
    let references = table::decode(cursor, series, level - 1)?;
    if references.len() > FAN_OUT_MAX {
        return Err(TableError::Limit);
    }
    Ok(Node { series, level, references })
}
