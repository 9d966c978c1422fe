//! The reader of a sealed segment: opens it by its two ends and answers what its tail knows.
//!
//! It does no I/O: every question looks at the blocks at hand ([`Blocks`]) and gives an answer or the blocks
//! that it needs. Opening wants block 0 and the last 16 KiB; a bad block 0 is replaced by the footer's copy.
//! Leaves and nodes are the query's.

use super::blocks::{Answer, Blocks};
use super::error::SegmentError;
use super::footer::{Footer, SectionKind};
use super::header::SegmentHeader;
use super::roots::{self, ROOTS_VERSION};
use super::tail::TailStream;
use crate::block::{BlockKind, SegmentId, open, peek};
use crate::index::{
    CATALOG_VERSION, Catalog, CatalogEntry, INDEX_VERSION, Index, IndexError, Lookup, resolve,
};
use crate::series::{RegexMatcher, Selector};
use crate::tree::{Reference, VIRTUAL_BLOCK_MIN};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// Blocks of the first read at the end.
const LAST_BLOCKS: u32 = 4;

/// A sealed segment whose footer was read.
#[derive(Clone, Debug)]
pub struct Sealed {
    block_count: u32,
    footer: Footer,
    /// What is wrong with block 0, where the footer's copy serves.
    header_fault: Option<SegmentError>,
}

/// A series and what names its rows: one node, or chunks in the order of time; a reference to block 0 where
/// there are none.
pub type Rooted = (CatalogEntry, Vec<Reference>);

/// What a completion is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suggest<'a> {
    /// Metric names.
    Metric,
    /// Tag names.
    Tag,
    /// Values of a tag.
    Value(&'a str),
}

impl From<IndexError> for SegmentError {
    fn from(_: IndexError) -> Self {
        Self::Tail("no valid catalog or index section")
    }
}

impl Sealed {
    /// Opens a segment of `block_count` blocks.
    ///
    /// # Errors
    /// `NotASegment`, `FutureVersion` and the like from block 0; `Unsealed` where the last block is no tail block
    /// with a footer: then a `Scan` reads what there is.
    pub fn open(block_count: u32, blocks: &(impl Blocks + ?Sized)) -> Result<Answer<Self>, SegmentError> {
        if block_count == 0 || block_count >= VIRTUAL_BLOCK_MIN {
            return Err(SegmentError::Truncated);
        }
        let last = block_count - 1;
        #[expect(clippy::single_range_in_vec_init, reason = "a list of one range of blocks is meant")]
        let need: Vec<Range<u32>> = if blocks.block(0).is_none() && last < LAST_BLOCKS {
            Vec::from([0..block_count])
        } else {
            let tail = block_count.saturating_sub(LAST_BLOCKS).max(1)..block_count;
            let wanted = [(blocks.block(0).is_none(), 0..1), (blocks.block(last).is_none(), tail)];
            wanted.into_iter().filter(|(missing, _)| *missing).map(|(_, range)| range).collect()
        };
        if !need.is_empty() {
            return Ok(Answer::Need(need));
        }
        let (Some(first), Some(end)) = (blocks.block(0), blocks.block(last)) else {
            return Err(SegmentError::Truncated);
        };
        let header = SegmentHeader::open(first);
        if let Err(fault @ (SegmentError::FutureVersion(_) | SegmentError::BlockSize(_))) = header {
            return Err(fault);
        }
        let footer = Self::read_footer(end, last, header.as_ref().ok().map(|header| &header.id));
        let footer = match (footer, header) {
            // Without a footer, block 0 says best what this is.
            (Err(SegmentError::Unsealed), Err(fault)) => return Err(fault),
            (footer, _) => footer?,
        };
        if footer.tail_block > last || header.is_ok_and(|header| header != footer.header) {
            return Err(SegmentError::Tail("footer of another segment"));
        }
        Ok(Answer::Ready(Self { block_count, footer, header_fault: header.err() }))
    }

    /// The footer in block `last`, whose segment is `id` or, where that is unknown, what the footer says.
    fn read_footer(bytes: &[u8], last: u32, id: Option<&SegmentId>) -> Result<Footer, SegmentError> {
        let wrong = |error| SegmentError::Block { block: last, error };
        let id = match id {
            Some(id) => *id,
            None => {
                let (_, payload) = peek(bytes).map_err(|_| SegmentError::Unsealed)?;
                Footer::parse(payload)?.header.id
            }
        };
        let (header, payload) = match open(bytes, &id, last) {
            Ok(opened) => opened,
            // Zeros, and whatever a file ends with that was cut, are no tail; a damaged tail block is one.
            Err(crate::block::BlockError::Empty) => return Err(SegmentError::Unsealed),
            Err(error) => return Err(wrong(error)),
        };
        if header.kind != BlockKind::Tail {
            return Err(SegmentError::Unsealed);
        }
        Footer::parse(payload)
    }

    /// What the segment is.
    pub fn header(&self) -> &SegmentHeader {
        &self.footer.header
    }

    /// Rows, span, sections.
    pub fn footer(&self) -> &Footer {
        &self.footer
    }

    /// Blocks of the file.
    pub fn block_count(&self) -> u32 {
        self.block_count
    }

    /// What is wrong with block 0, where the footer's copy of it is used.
    pub fn header_fault(&self) -> Option<SegmentError> {
        self.header_fault
    }

    /// The series that `selector` means, in the order of names.
    ///
    /// # Errors
    /// A damaged block of the tail, or sections that don't parse.
    pub fn series(
        &self,
        blocks: &(impl Blocks + ?Sized),
        selector: &Selector,
        regex: &(impl RegexMatcher + ?Sized),
    ) -> Result<Answer<Vec<CatalogEntry>>, SegmentError> {
        let stream = self.stream(blocks);
        let catalog = match Catalog::open(&stream, self.range(SectionKind::Catalog, CATALOG_VERSION)?)? {
            Lookup::Found(catalog) => catalog,
            Lookup::Need(need) => return self.need(&stream, &need),
        };
        let index = match self.range(SectionKind::Index, INDEX_VERSION) {
            Ok(range) => match Index::open(&stream, range)? {
                Lookup::Found(index) => Some(index),
                Lookup::Need(need) => return self.need(&stream, &need),
            },
            Err(_) => None,
        };
        match resolve(&stream, index.as_ref(), &catalog, selector, regex)? {
            Lookup::Found(entries) => Ok(Answer::Ready(entries)),
            Lookup::Need(need) => self.need(&stream, &need),
        }
    }

    /// The series that `selector` means, in the order of names, each with its roots.
    ///
    /// # Errors
    /// As [`Self::series`].
    pub fn select(
        &self,
        blocks: &(impl Blocks + ?Sized),
        selector: &Selector,
        regex: &(impl RegexMatcher + ?Sized),
    ) -> Result<Answer<Vec<Rooted>>, SegmentError> {
        match self.series(blocks, selector, regex)? {
            Answer::Ready(entries) => self.with_roots(blocks, entries),
            Answer::Need(need) => Ok(Answer::Need(need)),
        }
    }

    /// The series at these positions of the catalog, which is in the order of names, each with its roots;
    /// none beyond its end.
    ///
    /// # Errors
    /// As [`Self::series`].
    pub fn page(
        &self,
        blocks: &(impl Blocks + ?Sized),
        positions: Range<u32>,
    ) -> Result<Answer<Vec<Rooted>>, SegmentError> {
        let stream = self.stream(blocks);
        let catalog = match Catalog::open(&stream, self.range(SectionKind::Catalog, CATALOG_VERSION)?)? {
            Lookup::Found(catalog) => catalog,
            Lookup::Need(need) => return self.need(&stream, &need),
        };
        match catalog.entries(&stream, &[positions])? {
            Lookup::Found(entries) => self.with_roots(blocks, entries),
            Lookup::Need(need) => self.need(&stream, &need),
        }
    }

    fn with_roots(
        &self,
        blocks: &(impl Blocks + ?Sized),
        entries: Vec<CatalogEntry>,
    ) -> Result<Answer<Vec<Rooted>>, SegmentError> {
        let stream = self.stream(blocks);
        let positions: Vec<u32> = entries.iter().map(|entry| entry.position).collect();
        let section = self.range(SectionKind::Roots, ROOTS_VERSION)?;
        match roots::read(&stream, &section, &positions)? {
            Lookup::Found(roots) => Ok(Answer::Ready(entries.into_iter().zip(roots).collect())),
            Lookup::Need(need) => self.need(&stream, &need),
        }
    }

    /// At most `limit` names or values that begin with `prefix`, in order.
    ///
    /// # Errors
    /// As [`Self::select`]; also where the segment has no index.
    pub fn suggest(
        &self,
        blocks: &(impl Blocks + ?Sized),
        what: Suggest<'_>,
        prefix: &str,
        limit: usize,
    ) -> Result<Answer<Vec<String>>, SegmentError> {
        let stream = self.stream(blocks);
        let index = match Index::open(&stream, self.range(SectionKind::Index, INDEX_VERSION)?)? {
            Lookup::Found(index) => index,
            Lookup::Need(need) => return self.need(&stream, &need),
        };
        let found = match what {
            Suggest::Metric => index.suggest_metrics(&stream, prefix, limit)?,
            Suggest::Tag => index.suggest_tags(&stream, prefix, limit)?,
            Suggest::Value(tag) => index.suggest_values(&stream, tag, prefix, limit)?,
        };
        match found {
            Lookup::Found(words) => Ok(Answer::Ready(words)),
            Lookup::Need(need) => self.need(&stream, &need),
        }
    }

    pub(super) fn stream<'b, B: Blocks + ?Sized>(&'b self, blocks: &'b B) -> TailStream<'b, B> {
        TailStream { blocks, id: &self.footer.header.id, first_block: self.footer.tail_block }
    }

    pub(super) fn range(&self, kind: SectionKind, version: u16) -> Result<Range<u64>, SegmentError> {
        let section = self.footer.section(kind, version).ok_or(SegmentError::Tail("a section is missing"))?;
        let blocks = u64::from(self.block_count - self.footer.tail_block);
        if section.end > blocks * crate::block::PAYLOAD_MAX as u64 {
            return Err(SegmentError::Tail("a section beyond the end"));
        }
        Ok(section.begin..section.end)
    }

    /// The blocks that hold what is needed; where all are at hand, one of them is bad.
    pub(super) fn need<T, B: Blocks + ?Sized>(
        &self,
        stream: &TailStream<'_, B>,
        ranges: &[Range<u64>],
    ) -> Result<Answer<T>, SegmentError> {
        let missing = stream.missing(ranges);
        if !missing.is_empty() {
            return Ok(Answer::Need(missing));
        }
        for block in self.footer.tail_block..self.block_count {
            if let Some(bytes) = stream.blocks.block(block) {
                let found = open(bytes, &self.footer.header.id, block);
                found.map_err(|error| SegmentError::Block { block, error })?;
            }
        }
        Err(SegmentError::Tail("cut short"))
    }
}
