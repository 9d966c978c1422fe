//! The roots section: for each series, in the order of names, what names all its rows: its top node, or its
//! chunks where they are few. `docs/format.md`, chapter 11.

use super::error::SegmentError;
use crate::block::Cursor;
use crate::index::{Lookup, Source};
use crate::tree::{Reference, table};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// Version of the roots section.
pub(super) const ROOTS_VERSION: u16 = 2;

/// Series of one group.
const GROUP: usize = 64;
/// Bytes before the offsets.
const PREFIX_LEN: u64 = 8;
/// More bytes than any group has: [`GROUP`] series with 16 references each.
const GROUP_LEN_MAX: u32 = 512 * 1024;

const WRONG: SegmentError = SegmentError::Tail("no valid roots section");

/// The section of `roots`: some of each series, at least one.
pub(super) fn encode(roots: &[Vec<Reference>]) -> Vec<u8> {
    let groups: Vec<Vec<u8>> = roots.chunks(GROUP).map(|group| encode_group(&group.concat())).collect();
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&(roots.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(GROUP as u32).to_le_bytes());
    let mut offset = PREFIX_LEN as u32 + 4 * (groups.len() as u32 + 1);
    for group in &groups {
        bytes.extend_from_slice(&offset.to_le_bytes());
        offset += group.len() as u32;
    }
    bytes.extend_from_slice(&offset.to_le_bytes());
    groups.iter().for_each(|group| bytes.extend_from_slice(group));
    bytes
}

fn encode_group(roots: &[Reference]) -> Vec<u8> {
    let mut scratch = vec![0; roots.len()];
    let len = table::encoded_len(roots, true, &mut scratch).unwrap_or(0);
    let mut bytes = vec![0; len];
    // The length is that of this very table.
    let _ = table::encode(roots, true, &mut scratch, &mut bytes);
    bytes
}

/// The roots of the series at catalog `positions`, ascending, in their order.
///
/// # Errors
/// `Tail` where the section is no roots section or has no such position.
pub(super) fn read<S: Source + ?Sized>(
    source: &S,
    section: &Range<u64>,
    positions: &[u32],
) -> Result<Lookup<Vec<Vec<Reference>>>, SegmentError> {
    let (series, group) = match prefix(source, section)? {
        Lookup::Found(prefix) => prefix,
        Lookup::Need(need) => return Ok(Lookup::Need(need)),
    };
    let (mut roots, mut need) = (Vec::new(), Vec::new());
    let mut at_hand: Option<(u32, Vec<Vec<Reference>>)> = None;
    for position in positions {
        if *position >= series {
            return Err(WRONG);
        }
        let number = position / group;
        if at_hand.as_ref().is_none_or(|(known, _)| *known != number) {
            match read_group(source, section, number)? {
                Lookup::Found(references) => at_hand = Some((number, references)),
                Lookup::Need(ranges) => {
                    need.extend(ranges);
                    continue;
                }
            }
        }
        if let Some((_, references)) = &at_hand {
            roots.push(references.get((position % group) as usize).ok_or(WRONG)?.clone());
        }
    }
    Ok(if need.is_empty() { Lookup::Found(roots) } else { Lookup::Need(need) })
}

/// How many series have a root.
///
/// # Errors
/// `Tail` where the section is no roots section.
pub(super) fn series_count<S: Source + ?Sized>(
    source: &S,
    section: &Range<u64>,
) -> Result<Lookup<u32>, SegmentError> {
    Ok(prefix(source, section)?.map(|(series, _)| series))
}

fn prefix<S: Source + ?Sized>(source: &S, section: &Range<u64>) -> Result<Lookup<(u32, u32)>, SegmentError> {
    let mut bytes = [0; PREFIX_LEN as usize];
    let range = section.start..section.start.saturating_add(PREFIX_LEN);
    if range.end > section.end {
        return Err(WRONG);
    }
    if !source.read(section.start, &mut bytes) {
        return Ok(Lookup::Need(vec![range]));
    }
    let mut cursor = Cursor::new(&bytes);
    let (series, group) = (cursor.u32().map_err(|_| WRONG)?, cursor.u32().map_err(|_| WRONG)?);
    if group == 0 || group as usize > table::TABLE_MAX {
        return Err(WRONG);
    }
    Ok(Lookup::Found((series, group)))
}

fn read_group<S: Source + ?Sized>(
    source: &S,
    section: &Range<u64>,
    number: u32,
) -> Result<Lookup<Vec<Vec<Reference>>>, SegmentError> {
    let begin = section.start.saturating_add(PREFIX_LEN + 4 * u64::from(number));
    let offsets = begin..begin.saturating_add(8);
    if offsets.end > section.end {
        return Err(WRONG);
    }
    let mut bytes = [0; 8];
    if !source.read(begin, &mut bytes) {
        return Ok(Lookup::Need(vec![offsets]));
    }
    let mut cursor = Cursor::new(&bytes);
    let (from, to) = (cursor.u32().map_err(|_| WRONG)?, cursor.u32().map_err(|_| WRONG)?);
    let len = to.checked_sub(from).filter(|len| *len <= GROUP_LEN_MAX).ok_or(WRONG)?;
    let range = section.start.saturating_add(u64::from(from))..section.start.saturating_add(u64::from(to));
    if range.end > section.end {
        return Err(WRONG);
    }
    let mut bytes = vec![0; len as usize];
    if !source.read(range.start, &mut bytes) {
        return Ok(Lookup::Need(vec![range]));
    }
    let references = table::decode(&mut Cursor::new(&bytes), 0, 0).map_err(|_| WRONG)?;
    // Numbers of series differ, so what stands side by side under one number is one series.
    let series = references.chunk_by(|a, b| a.series == b.series);
    Ok(Lookup::Found(series.map(<[Reference]>::to_vec).collect()))
}
