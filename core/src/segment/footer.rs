//! The footer at the very end of a sealed segment. `docs/format.md`, chapter 11.

use super::error::SegmentError;
use super::header::{HEADER_PAYLOAD_LEN, SegmentHeader};
use crate::block::{Cursor, Truncated};
use crate::point::TimeRange;

/// Bytes that end every sealed segment's payload.
pub(super) const FOOTER_MAGIC: [u8; 8] = *b"SILTEND\n";
/// Sections at most.
pub(super) const SECTIONS_MAX: usize = 32;
/// Bytes of a footer at most.
pub(super) const FOOTER_LEN_MAX: usize = FIXED_LEN + SECTIONS_MAX * SECTION_LEN;

const SECTION_LEN: usize = 20;
const FIXED_LEN: usize = HEADER_PAYLOAD_LEN + 8 + 8 + 8 + 16 + 2 + 4 + 8;

/// What a section holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum SectionKind {
    /// Names, kinds and units in the order of names.
    Catalog = 1,
    /// The sketch index.
    Index = 2,
    /// A reference for each series.
    Roots = 3,
    /// What a merge took the place of.
    Supersedes = 6,
    /// Where the series of the partition end.
    Heads = 7,
}

/// A byte range of the tail's stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// What it holds; see [`SectionKind`], other numbers are skipped.
    pub kind: u16,
    /// Version of that kind.
    pub version: u16,
    /// First byte in the stream.
    pub begin: u64,
    /// First byte behind.
    pub end: u64,
}

/// What the footer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footer {
    /// A copy of block 0.
    pub header: SegmentHeader,
    /// First tail block.
    pub tail_block: u32,
    /// First inner node where they are contiguous, else 0.
    pub node_block: u32,
    /// Rows in the segment.
    pub rows: u64,
    /// Their span.
    pub span: TimeRange,
    /// The sections.
    pub sections: heapless::Vec<Section, SECTIONS_MAX>,
}

impl Footer {
    /// Bytes of the footer.
    pub fn encoded_len(&self) -> usize {
        FIXED_LEN + self.sections.len() * SECTION_LEN
    }

    /// The section of `kind`, where there is one of a known version.
    pub fn section(&self, kind: SectionKind, version: u16) -> Option<Section> {
        self.sections
            .iter()
            .copied()
            .find(|section| section.kind == kind as u16 && section.version == version)
    }

    /// The bytes of the footer.
    pub fn encode(&self) -> heapless::Vec<u8, FOOTER_LEN_MAX> {
        let mut bytes = heapless::Vec::new();
        // The capacity is that of the largest footer, so nothing is ever refused here.
        let mut put = |part: &[u8]| drop(bytes.extend_from_slice(part));
        put(&self.header.payload());
        put(&self.header.id.number.to_le_bytes());
        put(&self.header.id.epoch.to_le_bytes());
        put(&self.tail_block.to_le_bytes());
        put(&self.node_block.to_le_bytes());
        put(&self.rows.to_le_bytes());
        put(&self.span.begin.to_le_bytes());
        put(&self.span.end.to_le_bytes());
        put(&(self.sections.len() as u16).to_le_bytes());
        for section in &self.sections {
            put(&section.kind.to_le_bytes());
            put(&section.version.to_le_bytes());
            put(&section.begin.to_le_bytes());
            put(&section.end.to_le_bytes());
        }
        put(&(self.encoded_len() as u32).to_le_bytes());
        put(&FOOTER_MAGIC);
        bytes
    }

    /// Reads the footer at the end of the last tail block's payload.
    ///
    /// # Errors
    /// `Unsealed` where the payload doesn't end in a footer, else what is wrong with it.
    pub fn parse(payload: &[u8]) -> Result<Self, SegmentError> {
        let short = |_: Truncated| SegmentError::Tail("footer cut short");
        let body = payload.strip_suffix(&FOOTER_MAGIC).ok_or(SegmentError::Unsealed)?;
        let (body, len) = body.split_last_chunk::<4>().ok_or(SegmentError::Tail("footer cut short"))?;
        let len = u32::from_le_bytes(*len) as usize;
        let begin = payload.len().checked_sub(len).ok_or(SegmentError::Tail("footer cut short"))?;
        let mut cursor = Cursor::new(body.get(begin..).ok_or(SegmentError::Tail("footer cut short"))?);
        let header = cursor.take(HEADER_PAYLOAD_LEN).map_err(short)?;
        let number = cursor.u32().map_err(short)?;
        let epoch = cursor.u32().map_err(short)?;
        let header = SegmentHeader::parse(header, epoch, number)?;
        let tail_block = cursor.u32().map_err(short)?;
        let node_block = cursor.u32().map_err(short)?;
        let rows = cursor.u64().map_err(short)?;
        let span = TimeRange::new(cursor.i64().map_err(short)?, cursor.i64().map_err(short)?);
        let count = cursor.u16().map_err(short)?;
        let mut sections = heapless::Vec::new();
        for _ in 0..count {
            let section = Section {
                kind: cursor.u16().map_err(short)?,
                version: cursor.u16().map_err(short)?,
                begin: cursor.u64().map_err(short)?,
                end: cursor.u64().map_err(short)?,
            };
            if section.begin > section.end || sections.push(section).is_err() {
                return Err(SegmentError::Tail("impossible sections in the footer"));
            }
        }
        if !cursor.rest().is_empty() {
            return Err(SegmentError::Tail("footer of another length than it says"));
        }
        Ok(Self { header, tail_block, node_block, rows, span, sections })
    }
}
