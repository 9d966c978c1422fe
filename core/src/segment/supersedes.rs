//! What a merge took the place of: a section of the tail. `docs/format.md`, chapter 11.
//!
//! A reader that has both a segment and one of its inputs leaves the input out. Names only: what the
//! inputs held is not known here.

use super::blocks::{Answer, Blocks};
use super::error::SegmentError;
use super::footer::SectionKind;
use super::reader::Sealed;
use crate::block::{Cursor, SegmentId, Truncated};
use crate::index::Source;
use alloc::vec;
use alloc::vec::Vec;

/// Version of the section.
pub(super) const SUPERSEDES_VERSION: u16 = 0;

const WRONG: SegmentError = SegmentError::Tail("no valid list of superseded segments");

/// A segment of the same device: its epoch and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SegmentNumber {
    /// The epoch in which it was begun.
    pub epoch: u32,
    /// Its number.
    pub number: u32,
}

impl SegmentNumber {
    /// The name of `id` among the segments of its device.
    pub const fn of(id: &SegmentId) -> Self {
        Self { epoch: id.epoch, number: id.number }
    }
}

/// What a merged segment says of those it was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Supersedes {
    /// The segments whose rows that count are all in this one.
    pub inputs: Vec<SegmentNumber>,
    /// The tombstones that were applied to those rows.
    pub applied: Vec<SegmentNumber>,
}

impl Supersedes {
    /// The section's bytes.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for list in [&self.inputs, &self.applied] {
            bytes.extend_from_slice(&(list.len() as u32).to_le_bytes());
            for segment in list {
                bytes.extend_from_slice(&segment.epoch.to_le_bytes());
                bytes.extend_from_slice(&segment.number.to_le_bytes());
            }
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, SegmentError> {
        let wrong = |_: Truncated| WRONG;
        let mut cursor = Cursor::new(bytes);
        let mut list = || {
            let count = cursor.u32().map_err(wrong)? as usize;
            // Eight bytes each: a count beyond the bytes that are there is refused before any memory is taken.
            if count > cursor.rest().len() / 8 {
                return Err(WRONG);
            }
            (0..count)
                .map(|_| {
                    let epoch = cursor.u32().map_err(wrong)?;
                    Ok(SegmentNumber { epoch, number: cursor.u32().map_err(wrong)? })
                })
                .collect::<Result<Vec<_>, SegmentError>>()
        };
        let (inputs, applied) = (list()?, list()?);
        if cursor.rest().is_empty() { Ok(Self { inputs, applied }) } else { Err(WRONG) }
    }
}

impl Sealed {
    /// What the segment took the place of; nothing where it was not merged.
    ///
    /// # Errors
    /// A damaged block of the tail, or a section that doesn't parse.
    pub fn supersedes(&self, blocks: &(impl Blocks + ?Sized)) -> Result<Answer<Supersedes>, SegmentError> {
        if self.footer().section(SectionKind::Supersedes, SUPERSEDES_VERSION).is_none() {
            return Ok(Answer::Ready(Supersedes::default()));
        }
        let range = self.range(SectionKind::Supersedes, SUPERSEDES_VERSION)?;
        let stream = self.stream(blocks);
        let missing = stream.missing(core::slice::from_ref(&range));
        if !missing.is_empty() {
            return Ok(Answer::Need(missing));
        }
        // All blocks of the range are at hand, so it is no longer than they are.
        let mut bytes = vec![0; usize::try_from(range.end - range.start).map_err(|_| WRONG)?];
        if !stream.read(range.start, &mut bytes) {
            return self.need(&stream, core::slice::from_ref(&range));
        }
        Supersedes::decode(&bytes).map(Answer::Ready)
    }
}

#[cfg(test)]
mod tests {
    use super::{SegmentNumber, Supersedes};

    #[test]
    fn comes_back_and_refuses_what_it_is_not() {
        let segment = |number| SegmentNumber { epoch: 3, number };
        let lists = Supersedes { inputs: vec![segment(1), segment(9)], applied: vec![segment(4)] };
        let bytes = lists.encode();
        assert_eq!(bytes.len(), 2 * 4 + 3 * 8);
        assert_eq!(Supersedes::decode(&bytes), Ok(lists));
        for len in 0..bytes.len() {
            assert!(Supersedes::decode(&bytes[..len]).is_err(), "{len} bytes");
        }
        let mut longer = bytes;
        longer[0] = 255;
        assert!(Supersedes::decode(&longer).is_err());
    }
}
