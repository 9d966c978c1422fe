//! Scanning a segment that has no footer: block by block, from the first to the last valid one.
//!
//! References come from the reference logs, and for chunks that no log names from the chunks themselves.
//! *Strict* scans end at the first block that is empty, damaged or stale: recovery goes on writing there.
//! *Lenient* ones pass over damage and note it: a reader wants whatever is left. Memory is bounded by
//! the chunks between two logs and the references found.

use super::definition;
use super::error::SegmentError;
use super::header::SegmentHeader;
use super::log::{self, LOGGED_ROWS_MIN};
use super::writer::Defined;
use crate::block::{BlockError, BlockKind, open};
use crate::codec::{self, Chunk};
use crate::series::SeriesName;
use crate::tree::leaf::{Entry, Leaf};
use crate::tree::{Laws, Reference, VIRTUAL_BLOCK_MIN, summarize};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Whether a scan goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanStep {
    /// The next block is wanted.
    Continue,
    /// The run of valid blocks is over.
    End,
}

/// A scan under way.
#[derive(Debug)]
pub struct Scan {
    strict: bool,
    /// Blocks below this one were flushed: what is wrong with them is damage and ends nothing.
    trusted: u32,
    found: Scanned,
    write_epoch: u32,
    waiting: BTreeMap<(u32, u16), (Entry, Vec<u8>)>,
    chunk: Chunk,
}

/// What a scan found.
#[derive(Debug)]
pub struct Scanned {
    /// What the segment is.
    pub header: SegmentHeader,
    pub(super) definitions: Vec<Defined>,
    /// References to all chunks, in the order of writing.
    pub(super) references: Vec<Reference>,
    /// References that no log names, as far as one would.
    pub(super) unlogged: Vec<Reference>,
    /// Block of the last log; 0 for none.
    pub(super) log_block: u32,
    /// First block behind the valid ones.
    pub end_block: u32,
    /// The journal position from which points may be missing.
    pub lsn: u64,
    /// Damage that a lenient scan passed over.
    pub faults: Vec<SegmentError>,
}

impl Scan {
    /// Begins behind a verified header.
    pub fn new(header: SegmentHeader, strict: bool) -> Self {
        let found = Scanned {
            header,
            definitions: Vec::new(),
            references: Vec::new(),
            unlogged: Vec::new(),
            log_block: 0,
            end_block: 1,
            lsn: 0,
            faults: Vec::new(),
        };
        Self { strict, trusted: 0, found, write_epoch: 0, waiting: BTreeMap::new(), chunk: Chunk::default() }
    }

    /// Passes over damage below block `trusted`, empty blocks included, even where the scan is strict.
    #[must_use]
    pub fn with_trusted(self, trusted: u32) -> Self {
        Self { trusted, ..self }
    }

    /// Takes the next block, from block 1 on.
    pub fn push(&mut self, bytes: &[u8]) -> ScanStep {
        let block = self.found.end_block;
        if block >= VIRTUAL_BLOCK_MIN {
            return ScanStep::End;
        }
        match self.take(block, bytes) {
            Ok(()) => {
                self.found.end_block = block + 1;
                ScanStep::Continue
            }
            Err(SegmentError::Block { error: BlockError::Empty, .. }) if block >= self.trusted => {
                ScanStep::End
            }
            Err(_) if self.strict && block >= self.trusted => ScanStep::End,
            Err(fault) => {
                self.found.faults.push(fault);
                self.found.end_block = block + 1;
                ScanStep::Continue
            }
        }
    }

    /// Ends the scan: decodes what no log named and sorts the references.
    pub fn finish(mut self) -> Scanned {
        for ((block, slot), (entry, bytes)) in core::mem::take(&mut self.waiting) {
            if let Some(reference) = self.decode(block, slot, &entry, &bytes) {
                self.found.references.push(reference);
                self.found.unlogged.push(reference);
            }
        }
        self.found.references.sort_by_key(|reference| (reference.block, reference.slot));
        let series = self.found.definitions.len();
        self.found.references.retain(|reference| (reference.series as usize) < series);
        self.found
    }

    fn take(&mut self, block: u32, bytes: &[u8]) -> Result<(), SegmentError> {
        let (header, payload) = open(bytes, &self.found.header.id, block)
            .map_err(|error| SegmentError::Block { block, error })?;
        if header.write_epoch < self.write_epoch {
            return Err(SegmentError::Payload { block, what: "epoch: a stale block" });
        }
        match header.kind {
            BlockKind::Definitions => self.define(block, payload)?,
            BlockKind::Leaf => {
                self.take_leaf(block, payload)?;
                self.found.lsn = header.lsn;
            }
            BlockKind::ReferenceLog => self.take_log(block, payload)?,
            // Nodes and tail of a segment whose footer is gone say nothing that the leaves don't.
            BlockKind::Node | BlockKind::Tail => {}
            _ => return Err(SegmentError::Payload { block, what: "block of a segment" }),
        }
        self.write_epoch = header.write_epoch;
        Ok(())
    }

    fn define(&mut self, block: u32, payload: &[u8]) -> Result<(), SegmentError> {
        let wrong = SegmentError::Payload { block, what: "definitions" };
        let definitions = &mut self.found.definitions;
        let mut result = Ok(());
        definition::decode(payload, block, |index, definition| {
            let expected = index as usize == definitions.len();
            match SeriesName::parse(definition.name) {
                Ok(name) if expected && name.as_str() == definition.name => {
                    definitions.push(Defined { name, kind: definition.kind, unit: definition.unit.into() });
                }
                _ => result = Err(wrong),
            }
        })?;
        result
    }

    fn take_leaf(&mut self, block: u32, payload: &[u8]) -> Result<(), SegmentError> {
        let wrong = |_| SegmentError::Payload { block, what: "leaf" };
        let leaf = Leaf::open(payload).map_err(wrong)?;
        for (slot, (entry, bytes)) in leaf.iter().enumerate() {
            let slot = slot as u16;
            if u64::from(entry.rows) >= LOGGED_ROWS_MIN {
                self.waiting.insert((block, slot), (entry, bytes.to_vec()));
            } else if let Some(reference) = self.decode(block, slot, &entry, bytes) {
                self.found.references.push(reference);
            } else if self.strict {
                return Err(SegmentError::Payload { block, what: "chunk" });
            }
        }
        Ok(())
    }

    fn take_log(&mut self, block: u32, payload: &[u8]) -> Result<(), SegmentError> {
        let wrong = SegmentError::Payload { block, what: "reference log" };
        for reference in log::decode(payload).map_err(|_| wrong)? {
            let known = self.waiting.remove(&(reference.block, reference.slot));
            if known.is_some_and(|(entry, _)| entry.series == reference.series) {
                self.found.references.push(reference);
            }
        }
        self.found.log_block = block;
        Ok(())
    }

    fn decode(&mut self, block: u32, slot: u16, entry: &Entry, bytes: &[u8]) -> Option<Reference> {
        if codec::decode(bytes, entry.rows, entry.begin, &mut self.chunk).is_err() {
            self.found.faults.push(SegmentError::Payload { block, what: "chunk" });
            return None;
        }
        let laws = Laws { max_hold_ns: self.found.header.max_hold_ns };
        let summary = summarize(&self.chunk.rows(&mut Vec::new()), &laws);
        Some(Reference { series: entry.series, block, slot, level: 0, summary })
    }
}
