//! Everything that can still be read of a damaged segment, written anew as a good one.
//!
//! It does no I/O: it says which blocks it wants and gives finished blocks of the copy. Every chunk that decodes
//! goes into the copy under the name that its definition, or else the catalog, gives it; nodes and tail are
//! made anew. What was lost is told as far as a node, a log or a root still says it.

use super::blocks::{Answer, BlockMap, Blocks};
use super::definition;
use super::error::SegmentError;
use super::header::{SegmentHeader, SegmentKind};
use super::log;
use super::reader::Sealed;
use super::salvage_report::{Loss, SalvageReport};
use super::writer::{FinishedBlock, Writer};
use crate::block::{Block, BlockError, BlockKind, SegmentId, open};
use crate::codec::{self, Chunk};
use crate::index::CatalogEntry;
use crate::point::{TimeRange, ValueKind};
use crate::series::SeriesName;
use crate::tree::leaf::{Entry, Leaf};
use crate::tree::{Laws, Reference, node};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// Blocks of one read.
const READ_BLOCKS: u32 = 64;
/// Names of the catalog that are read at a time.
const LOT: u32 = 64;
/// Names that are tried behind a part of the catalog that can't be read; the definitions name them all the same.
const NAMES_TRIED_MAX: u32 = 4_096;
/// Blocks of the tail that are kept at hand.
const AT_HAND_MAX: usize = 2_048;

/// What comes next.
#[derive(Debug)]
pub enum SalvageStep {
    /// These blocks of the damaged file are wanted; a block that can't be read is fed as zeros.
    Need(Range<u32>),
    /// These blocks of the copy are finished, in the order of addresses.
    Write(Vec<FinishedBlock>),
    /// The copy is complete.
    Done,
    /// There is nothing to begin with.
    Failed(SegmentError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Opening,
    Names(u32),
    Blocks(u32),
    Done,
}

#[derive(Clone, Debug)]
struct Named {
    name: SeriesName,
    kind: ValueKind,
    unit: String,
}

/// A segment that is being salvaged.
#[derive(Debug)]
pub struct Salvage {
    block_count: u32,
    id: Option<SegmentId>,
    phase: Phase,
    blocks: BlockMap,
    header: Option<SegmentHeader>,
    sealed: Option<Box<Sealed>>,
    writer: Option<Writer>,
    names: BTreeMap<u32, Named>,
    lost_blocks: BTreeSet<u32>,
    lost_chunks: BTreeSet<(u32, u16)>,
    /// What is named and lost, by where it was.
    losses: BTreeMap<(u32, u16), (u32, TimeRange, u64)>,
    report: SalvageReport,
    chunk: Chunk,
}

impl Salvage {
    /// Begins with a file of `block_count` whole blocks. `id` is what its name says, for a file whose header is lost
    /// in both places.
    pub fn new(block_count: u32, id: Option<SegmentId>) -> Self {
        Self {
            block_count,
            id,
            phase: Phase::Opening,
            blocks: BlockMap::new(),
            header: None,
            sealed: None,
            writer: None,
            names: BTreeMap::new(),
            lost_blocks: BTreeSet::new(),
            lost_chunks: BTreeSet::new(),
            losses: BTreeMap::new(),
            report: SalvageReport::default(),
            chunk: Chunk::default(),
        }
    }

    /// Goes on.
    pub fn step(&mut self) -> SalvageStep {
        loop {
            if let Some(writer) = &mut self.writer {
                let finished = writer.take_blocks();
                if !finished.is_empty() {
                    return SalvageStep::Write(finished);
                }
            }
            let wanted = match self.phase {
                Phase::Opening => match self.open() {
                    Ok(wanted) => wanted,
                    Err(error) => return SalvageStep::Failed(error),
                },
                Phase::Names(position) => self.take_names(position),
                Phase::Blocks(number) => self.take_block(number),
                Phase::Done => return SalvageStep::Done,
            };
            match wanted {
                Some(range) => {
                    let end = range.start.saturating_add(READ_BLOCKS).min(range.end).min(self.block_count);
                    return SalvageStep::Need(range.start..end.max(range.start.saturating_add(1)));
                }
                None if self.blocks.len() > AT_HAND_MAX => self.blocks.clear(),
                None => {}
            }
        }
    }

    /// Takes blocks, the first as `block`.
    pub fn feed(&mut self, block: u32, bytes: &[u8]) {
        self.blocks.insert(block, bytes);
    }

    /// Blocks that are behind it, for a bar.
    pub fn blocks_done(&self) -> u32 {
        match self.phase {
            Phase::Blocks(number) => number,
            Phase::Done => self.block_count,
            _ => 0,
        }
    }

    /// What was kept and what was lost; complete when it is done.
    pub fn report(&self) -> &SalvageReport {
        &self.report
    }

    fn open(&mut self) -> Result<Option<Range<u32>>, SegmentError> {
        match Sealed::open(self.block_count, &self.blocks) {
            Ok(Answer::Need(need)) => return Ok(Some(need.into_iter().next().unwrap_or(0..1))),
            Ok(Answer::Ready(sealed)) => {
                self.header = Some(*sealed.header());
                self.sealed = Some(Box::new(sealed));
                self.phase = Phase::Names(0);
            }
            Err(
                fault @ (SegmentError::FutureVersion(_)
                | SegmentError::BlockSize(_)
                | SegmentError::Truncated),
            ) => {
                return Err(fault);
            }
            Err(fault) => {
                if self.blocks.block(1).is_none() && self.block_count > 1 {
                    return Ok(Some(1..2));
                }
                let first = self.blocks.block(0).map(|block| SegmentHeader::open(block));
                let copy = self.blocks.block(1).map(|block| SegmentHeader::open_copy(block));
                let header = match (first, copy, self.id) {
                    (Some(Ok(header)), ..) | (_, Some(Ok(header)), _) => header,
                    (.., Some(id)) => {
                        self.report.is_header_lost = true;
                        of_name(id)
                    }
                    _ => return Err(fault),
                };
                self.header = Some(header);
                self.phase = Phase::Blocks(1);
            }
        }
        if let Some(header) = self.header {
            self.writer = Some(Writer::new(header, header.id.epoch.max(1)));
        }
        Ok(None)
    }

    /// What it took the place of, and then a lot of names from the tail; one that can't be read is passed over.
    fn take_names(&mut self, position: u32) -> Option<Range<u32>> {
        let sealed = self.sealed.as_deref()?;
        if position == 0 {
            match (sealed.supersedes(&self.blocks), &mut self.writer) {
                (Ok(Answer::Need(need)), _) => return need.into_iter().next(),
                (Ok(Answer::Ready(supersedes)), Some(writer)) => writer.supersede(supersedes),
                _ => self.report.is_history_lost = true,
            }
        }
        let next = position.saturating_add(LOT);
        let asked = sealed.page(&self.blocks, position..next);
        self.phase = match asked {
            Ok(Answer::Need(need)) => return need.into_iter().next(),
            Ok(Answer::Ready(found)) if found.is_empty() => Phase::Blocks(1),
            Ok(Answer::Ready(found)) => {
                for (entry, roots) in found {
                    let CatalogEntry { name, kind, unit, .. } = entry;
                    if let Some(root) = roots.first() {
                        self.names.insert(root.series, Named { name, kind, unit });
                    }
                    self.note_losses(&roots);
                }
                Phase::Names(next)
            }
            // What stands behind it may be readable.
            Err(_) if position < NAMES_TRIED_MAX => Phase::Names(next),
            Err(_) => Phase::Blocks(1),
        };
        None
    }

    fn take_block(&mut self, number: u32) -> Option<Range<u32>> {
        if number >= self.block_count {
            self.finish();
            return None;
        }
        let Some(block) = self.blocks.block(number).copied() else {
            return Some(number..number.saturating_add(READ_BLOCKS));
        };
        self.take(number, &block);
        self.phase = Phase::Blocks(number.saturating_add(1));
        None
    }

    fn take(&mut self, number: u32, block: &Block) {
        let Some(id) = self.header.map(|header| header.id) else { return };
        let (header, payload) = match open(block, &id, number) {
            Ok(opened) => opened,
            // Room that was never used, in a segment that was never sealed.
            Err(BlockError::Empty) if self.sealed.is_none() => return,
            Err(_) => return self.lose(number),
        };
        match header.kind {
            BlockKind::Definitions => {
                let names = &mut self.names;
                let decoded = definition::decode(payload, number, |index, defined| {
                    if let Ok(name) = SeriesName::from_canonical(defined.name) {
                        let unit = String::from(defined.unit);
                        names.insert(index, Named { name, kind: defined.kind, unit });
                    }
                });
                if decoded.is_err() {
                    self.lose(number);
                }
            }
            BlockKind::Leaf => self.take_leaf(number, payload),
            BlockKind::Node => {
                for node in node::all(payload) {
                    match node {
                        Ok((_, node)) => self.note_losses(&node.references),
                        Err(_) => self.lose(number),
                    }
                }
            }
            BlockKind::ReferenceLog => match log::decode(payload) {
                Ok(references) => self.note_losses(&references),
                Err(_) => self.lose(number),
            },
            _ => {}
        }
    }

    fn lose(&mut self, number: u32) {
        self.lost_blocks.insert(number);
        self.report.blocks_lost = self.report.blocks_lost.saturating_add(1);
    }

    fn take_leaf(&mut self, number: u32, payload: &[u8]) {
        let Ok(leaf) = Leaf::open(payload) else { return self.lose(number) };
        for (slot, (entry, bytes)) in (0..).zip(leaf.iter()) {
            let decoded = codec::decode(bytes, entry.rows, entry.begin, &mut self.chunk);
            if decoded.is_ok() {
                self.keep(&entry);
            } else {
                self.lost_chunks.insert((number, slot));
                let span = TimeRange::new(entry.begin, entry.last.saturating_add(1));
                self.losses.insert((number, slot), (entry.series, span, u64::from(entry.rows)));
            }
        }
    }

    /// Puts the decoded chunk into the copy.
    fn keep(&mut self, entry: &Entry) {
        let kind = self.chunk.values.kind();
        let Some(named) = self.name_of(entry.series, kind) else { return };
        let Some(writer) = &mut self.writer else { return };
        let series = writer.define(&named.name, named.kind, &named.unit);
        for point in self.chunk.points() {
            match writer.append(series, &point, 0) {
                Ok(_) => self.report.rows = self.report.rows.saturating_add(1),
                Err(_) => self.report.rows_refused = self.report.rows_refused.saturating_add(1),
            }
        }
    }

    /// The name of a series; one whose name is lost gets one that says so.
    fn name_of(&mut self, series: u32, kind: ValueKind) -> Option<Named> {
        if let Some(named) = self.names.get(&series) {
            return Some(named.clone());
        }
        let id = self.header?.id;
        let device: String = id.device.iter().map(|byte| format!("{byte:02x}")).collect();
        let segment = format!("{device}{:08x}{:08x}", id.epoch, id.number);
        let number = format!("{series}");
        let tags = [("segment", segment.as_str()), ("series", number.as_str())];
        let name = SeriesName::new("name_lost", tags).ok()?;
        let named = Named { name, kind, unit: String::new() };
        self.names.insert(series, named.clone());
        self.report.names_lost = self.report.names_lost.saturating_add(1);
        Some(named)
    }

    /// Notes those of `references` that name what is lost. Roots come first, so they are asked again at the end.
    fn note_losses(&mut self, references: &[Reference]) {
        for reference in references.iter().filter(|reference| reference.level == 0 && reference.block > 0) {
            let place = (reference.block, reference.slot);
            let is_ahead = matches!(self.phase, Phase::Names(_));
            if is_ahead || self.lost_blocks.contains(&reference.block) {
                let summary = &reference.summary;
                self.losses.entry(place).or_insert((reference.series, summary.span(), summary.rows()));
            }
        }
    }

    fn finish(&mut self) {
        self.phase = Phase::Done;
        let Some(writer) = &mut self.writer else { return };
        // A series without readings has a name all the same; of tombstones the names are all there is.
        for named in self.names.values() {
            writer.define(&named.name, named.kind, &named.unit);
        }
        self.report.series = writer.series_count();
        if writer.seal().is_err() {
            writer.flush();
        }
        for ((block, slot), (series, span, rows)) in core::mem::take(&mut self.losses) {
            if self.lost_blocks.contains(&block) || self.lost_chunks.contains(&(block, slot)) {
                let name = self.names.get(&series).map(|named| named.name.clone());
                self.report.losses.push(Loss { name, span, rows });
            }
        }
    }
}

/// What is known of a segment of which only the name is left.
fn of_name(id: SegmentId) -> SegmentHeader {
    SegmentHeader {
        id,
        kind: SegmentKind::Late,
        rank: 0,
        partition: TimeRange::ALL,
        max_hold_ns: Laws::default().max_hold_ns,
        covered_lsn: 0,
        writer: SegmentHeader::writer_name("repaired"),
    }
}

#[cfg(test)]
#[path = "salvage_tests.rs"]
mod tests;
