//! The heads section: where each series of the partition ended when the segment was sealed. `docs/format.md`, chapter 11.
//!
//! It speaks for the segment itself and for those that it lists, each as it was sealed then, so that whoever
//! trusts it reads none of them. The ends of the segment's own series stand in the order of its catalog; series that end
//! later elsewhere, or are not here, have a catalog of their own. What the ends are good for is the store's to know.

use super::blocks::{Answer, Blocks};
use super::error::SegmentError;
use super::footer::SectionKind;
use super::reader::Sealed;
use super::supersedes::SegmentNumber;
use super::writer::Writer;
use crate::block::{Cursor, Truncated};
use crate::codec::varint;
use crate::index::{Catalog, CatalogEntry, CatalogWriter, IndexError, Lookup, Source};
use crate::point::ValueKind;
use crate::series::SeriesName;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// Version of the section.
pub(super) const HEADS_VERSION: u16 = 0;

/// Bytes that a segment takes in the list at least.
const SEGMENT_LEN_MIN: usize = 3;

const WRONG: SegmentError = SegmentError::Tail("no valid heads section");

/// A sealed segment of the same device, and the epoch in which its last block was written: one that was gone on with
/// and sealed again is another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SealedNumber {
    /// Which segment.
    pub segment: SegmentNumber,
    /// When it was sealed.
    pub sealed_epoch: u32,
}

/// Where a series ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriedHead {
    /// Which series.
    pub name: SeriesName,
    /// Kind of its values.
    pub kind: ValueKind,
    /// Its unit, or empty.
    pub unit: String,
    /// Timestamp of its last row.
    pub at: i64,
}

/// What a writer is told of other segments before it seals its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// No series of these ends behind what is said of it here, or behind its rows in the segment itself.
    pub segments: Vec<SealedNumber>,
    /// Where series end.
    pub heads: Vec<CarriedHead>,
}

/// What the section says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadsSection {
    /// The segments that it speaks for besides its own.
    pub segments: Vec<SealedNumber>,
    /// Where the series of the catalog end, in its order; `None` without rows.
    pub own: Vec<Option<i64>>,
    /// Where others end, and those of the catalog that end later elsewhere.
    pub others: Vec<CarriedHead>,
}

impl Writer {
    /// The epoch in which its blocks are written.
    pub fn write_epoch(&self) -> u32 {
        self.write_epoch
    }

    /// Says what the heads section is to say besides the segment's own ends; without it there will be none.
    pub fn carry(&mut self, carried: Carried) {
        self.carried = Some(carried);
    }

    /// The bytes of the heads section; `None` where there is to be none, or where times lie so far apart that
    /// they can't be said.
    pub(super) fn heads_section(&mut self, order: &[u32]) -> Option<Vec<u8>> {
        let Carried { segments, heads } = self.carried.take()?;
        let own = order.iter().map(|index| Some(self.span_of(*index)?.end.saturating_sub(1))).collect();
        let is_later = |head: &CarriedHead| {
            let own = self.find(&head.name).and_then(|index| self.last_at(index));
            own.is_none_or(|own| own < head.at)
        };
        let mut others: Vec<CarriedHead> = heads.into_iter().filter(is_later).collect();
        // Of one series the latest first, and only that.
        others.sort_by(|a, b| a.name.cmp(&b.name).then(b.at.cmp(&a.at)));
        others.dedup_by(|a, b| a.name == b.name);
        HeadsSection { segments, own, others }.encode()
    }
}

impl HeadsSection {
    fn encode(&self) -> Option<Vec<u8>> {
        let mut lists = Vec::new();
        put(&mut lists, self.segments.len() as u64);
        for SealedNumber { segment, sealed_epoch } in &self.segments {
            for number in [segment.epoch, segment.number, *sealed_epoch] {
                put(&mut lists, u64::from(number));
            }
        }
        let ends = self.own.iter().copied().chain(self.others.iter().map(|other| Some(other.at)));
        put_ends(&mut lists, ends)?;
        let mut bytes = Vec::new();
        for number in [self.own.len(), self.others.len(), lists.len()] {
            bytes.extend_from_slice(&u32::try_from(number).ok()?.to_le_bytes());
        }
        bytes.append(&mut lists);
        if !self.others.is_empty() {
            let mut catalog = CatalogWriter::new();
            for other in &self.others {
                catalog.push(other.name.name_ref(), other.kind, &other.unit).ok()?;
            }
            bytes.append(&mut catalog.finish().ok()?);
        }
        Some(bytes)
    }

    /// What stands at `range` of a stream, of which the blocks there are at hand: so it is no longer than they are.
    fn read<S: Source + ?Sized>(source: &S, range: Range<u64>) -> Result<Lookup<Self>, SegmentError> {
        let wrong = |_: Truncated| WRONG;
        let len = range.end.checked_sub(range.start).and_then(|len| usize::try_from(len).ok());
        let mut bytes = vec![0; len.ok_or(WRONG)?];
        if !source.read(range.start, &mut bytes) {
            return Ok(Lookup::Need(vec![range]));
        }
        let mut prefix = Cursor::new(&bytes);
        let (own, others) = (prefix.u32().map_err(wrong)?, prefix.u32().map_err(wrong)?);
        let len = prefix.u32().map_err(wrong)? as usize;
        let mut cursor = Cursor::new(prefix.take(len).map_err(wrong)?);
        let count = cursor.varint().map_err(wrong)?;
        if count > (cursor.rest().len() / SEGMENT_LEN_MIN) as u64 {
            return Err(WRONG);
        }
        let mut segments = Vec::new();
        for _ in 0..count {
            let mut number = || u32::try_from(cursor.varint().map_err(wrong)?).map_err(|_| WRONG);
            let segment = SegmentNumber { epoch: number()?, number: number()? };
            segments.push(SealedNumber { segment, sealed_epoch: number()? });
        }
        // A byte each at least, so that there are no more of them than bytes.
        if u64::from(own) + u64::from(others) > cursor.rest().len() as u64 {
            return Err(WRONG);
        }
        let mut ends = take_ends(&mut cursor, own as usize + others as usize)?;
        if !cursor.rest().is_empty() {
            return Err(WRONG);
        }
        let ends_of_others = ends.split_off(own as usize);
        let names = range.end.saturating_sub(prefix.rest().len() as u64)..range.end;
        let others = read_names(source, names, others)?.map(|names| {
            let others = names.into_iter().zip(ends_of_others).map(|(entry, at)| {
                let CatalogEntry { name, kind, unit, .. } = entry;
                Ok(CarriedHead { name, kind, unit, at: at.ok_or(WRONG)? })
            });
            others.collect::<Result<_, SegmentError>>()
        });
        Ok(match others {
            Lookup::Found(others) => Lookup::Found(Self { segments, own: ends, others: others? }),
            Lookup::Need(need) => Lookup::Need(need),
        })
    }
}

/// Puts ends as multiples of what all their differences are multiples of.
fn put_ends(out: &mut Vec<u8>, ends: impl Iterator<Item = Option<i64>> + Clone) -> Option<()> {
    let base = ends.clone().flatten().next().unwrap_or(0);
    let (mut unit, mut before) = (0, base);
    for end in ends.clone().flatten() {
        unit = divisor(unit, end.checked_sub(before)?.unsigned_abs());
        before = end;
    }
    let unit = i64::try_from(unit.max(1)).ok()?;
    put(out, varint::zigzag(base));
    put(out, unit as u64);
    before = base;
    for end in ends {
        let Some(end) = end else {
            put(out, 0);
            continue;
        };
        put(out, varint::zigzag(end.checked_sub(before)?.checked_div(unit)?).checked_add(1)?);
        before = end;
    }
    Some(())
}

fn take_ends(cursor: &mut Cursor<'_>, count: usize) -> Result<Vec<Option<i64>>, SegmentError> {
    let wrong = |_: Truncated| WRONG;
    let mut before = cursor.zigzag().map_err(wrong)?;
    let unit = i64::try_from(cursor.varint().map_err(wrong)?).ok().filter(|unit| *unit > 0).ok_or(WRONG)?;
    let mut ends = Vec::with_capacity(count.min(cursor.rest().len()));
    for _ in 0..count {
        let Some(steps) = cursor.varint().map_err(wrong)?.checked_sub(1) else {
            ends.push(None);
            continue;
        };
        let end = varint::unzigzag(steps).checked_mul(unit).and_then(|distance| before.checked_add(distance));
        // The largest is never stored.
        before = end.filter(|end| *end < i64::MAX).ok_or(WRONG)?;
        ends.push(Some(before));
    }
    Ok(ends)
}

/// The entries of a catalog of `count` names, which is all that stands at `range`.
fn read_names<S: Source + ?Sized>(
    source: &S,
    range: Range<u64>,
    count: u32,
) -> Result<Lookup<Vec<CatalogEntry>>, SegmentError> {
    let wrong = |_: IndexError| WRONG;
    if count == 0 {
        return if range.is_empty() { Ok(Lookup::Found(Vec::new())) } else { Err(WRONG) };
    }
    let catalog = match Catalog::open(source, range).map_err(wrong)? {
        Lookup::Found(catalog) => catalog,
        Lookup::Need(need) => return Ok(Lookup::Need(need)),
    };
    if catalog.len() != count {
        return Err(WRONG);
    }
    #[expect(clippy::single_range_in_vec_init, reason = "a list of one range of positions is meant")]
    match catalog.entries(source, &[0..count]).map_err(wrong)? {
        Lookup::Found(entries) if entries.len() != count as usize => Err(WRONG),
        lookup => Ok(lookup),
    }
}

fn put(out: &mut Vec<u8>, value: u64) {
    let mut bytes = [0; varint::LEN_MAX];
    // Every number fits so many bytes.
    let len = varint::write(value, &mut bytes).unwrap_or(0);
    out.extend_from_slice(bytes.get(..len).unwrap_or_default());
}

/// The greatest common divisor; that of 0 and a number is the number.
fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a.checked_rem(b).unwrap_or(0));
    }
    a
}

impl Sealed {
    /// What the heads section says; `None` where there is none.
    ///
    /// # Errors
    /// A damaged block of the tail, or a section that doesn't parse.
    pub fn heads(
        &self,
        blocks: &(impl Blocks + ?Sized),
    ) -> Result<Answer<Option<HeadsSection>>, SegmentError> {
        if self.footer().section(SectionKind::Heads, HEADS_VERSION).is_none() {
            return Ok(Answer::Ready(None));
        }
        let range = self.range(SectionKind::Heads, HEADS_VERSION)?;
        let stream = self.stream(blocks);
        let missing = stream.missing(core::slice::from_ref(&range));
        if !missing.is_empty() {
            return Ok(Answer::Need(missing));
        }
        match HeadsSection::read(&stream, range)? {
            Lookup::Found(section) => Ok(Answer::Ready(Some(section))),
            Lookup::Need(need) => self.need(&stream, &need),
        }
    }
}

#[cfg(test)]
#[path = "heads_tests.rs"]
mod tests;
