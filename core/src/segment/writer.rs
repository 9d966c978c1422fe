//! The writer of one segment: points in, finished blocks with their addresses out.
//!
//! The writer puts nothing on a device: [`Writer::take_blocks`] gives what is finished, in the order of
//! addresses, and somebody else writes it. An append in order reads nothing. Points wait in memory until
//! they fill a leaf or [`Writer::flush`] packs them; the inner nodes stay in memory until the seal.
//!
//! Invariants: rows of a series rise strictly in time across its leaves; a definition block precedes the
//! first leaf that needs it; every block names its own place.

use super::definition::{self, Definition, STATE_LEN_MAX, UNIT_LEN_MAX};
use super::error::{AppendError, SegmentError};
use super::header::SegmentHeader;
use super::heads::Carried;
use super::log::ReferenceLog;
use super::open_series::{Filling, OpenSeries, PlacedChunk, Workshop};
use super::rows::Placed;
use super::scan::Scanned;
use super::supersedes::Supersedes;
use super::units::Units;
use crate::block::{BLOCK_LEN, Block, BlockHeader, BlockKind, seal};
use crate::point::{Point, TimeRange, Value, ValueKind};
use crate::series::{SeriesIndex, SeriesName};
use crate::tree::leaf::{LeafBuilder, SLOTS_MAX};
use crate::tree::{Laws, Reference, Summary, VIRTUAL_BLOCK_MIN};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A block that is to be written, at `number` × 4096.
#[derive(Clone, Debug)]
pub struct FinishedBlock {
    /// Its number.
    pub number: u32,
    /// Its bytes, header and checksum included.
    pub bytes: Box<Block>,
}

/// What became of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// It is the newest of its series.
    InOrder,
    /// It was sorted in between rows that are not coded yet.
    SortedIn,
    /// It took the place of a row with the same timestamp.
    Replaced,
}

/// How a series was defined.
#[derive(Clone, Debug)]
pub(super) struct Defined {
    pub name: SeriesName,
    pub kind: ValueKind,
    pub unit: Arc<str>,
}

/// Writes one segment.
#[derive(Debug)]
pub struct Writer {
    pub(super) header: SegmentHeader,
    pub(super) write_epoch: u32,
    pub(super) defined: Vec<Defined>,
    pub(super) series: Vec<OpenSeries>,
    by_name: BTreeMap<SeriesName, u32>,
    units: Units,
    /// How many series stand in definition blocks.
    defined_in_blocks: usize,
    leaf: Box<LeafBuilder<SLOTS_MAX>>,
    log: ReferenceLog,
    finished: Vec<FinishedBlock>,
    next_block: u32,
    next_lsn: u64,
    pub(super) shop: Workshop,
    pub(super) sealed: bool,
    pub(super) supersedes: Supersedes,
    pub(super) carried: Option<Carried>,
}

impl Writer {
    /// Begins the segment that `header` describes; its block 0 is finished at once.
    pub fn new(header: SegmentHeader, write_epoch: u32) -> Self {
        let mut writer = Self::bare(header, write_epoch);
        writer.finished.push(FinishedBlock { number: 0, bytes: Box::new(header.block(write_epoch)) });
        writer.next_block = 1;
        writer
    }

    fn bare(header: SegmentHeader, write_epoch: u32) -> Self {
        Self {
            header,
            write_epoch,
            defined: Vec::new(),
            series: Vec::new(),
            by_name: BTreeMap::new(),
            units: Units::default(),
            defined_in_blocks: 0,
            leaf: Box::default(),
            log: ReferenceLog::new(),
            finished: Vec::new(),
            next_block: 0,
            next_lsn: 0,
            shop: Workshop::default(),
            sealed: false,
            supersedes: Supersedes::default(),
            carried: None,
        }
    }

    /// Goes on with an unsealed segment behind what a scan found; new blocks are written in `write_epoch`.
    ///
    /// # Errors
    /// `Tail` where the definitions contradict themselves.
    pub fn resume(scanned: Scanned, write_epoch: u32) -> Result<Self, SegmentError> {
        let mut writer = Self::bare(scanned.header, write_epoch);
        for mut definition in scanned.definitions {
            definition.unit = writer.units.share(&definition.unit);
            let index = writer.defined.len() as u32;
            if writer.by_name.insert(definition.name.clone(), index).is_some() {
                return Err(SegmentError::Tail("a series is defined twice"));
            }
            writer.series.push(OpenSeries::new(index, definition.kind));
            writer.defined.push(definition);
        }
        writer.defined_in_blocks = writer.defined.len();
        let laws = writer.laws();
        for reference in scanned.references {
            if let Some(series) = writer.series.get_mut(reference.series as usize) {
                series.resume_at(reference.summary.begin, reference.summary.end.saturating_sub(1));
                series.extent.push(reference, &laws);
            }
        }
        writer.log.resume(scanned.log_block, scanned.unlogged);
        writer.next_block = scanned.end_block;
        writer.next_lsn = scanned.lsn;
        Ok(writer)
    }

    /// The segment takes the place of others; said when it is sealed.
    pub fn supersede(&mut self, supersedes: Supersedes) {
        self.supersedes = supersedes;
    }

    /// The segments that this one takes the place of.
    pub fn supersedes(&self) -> &Supersedes {
        &self.supersedes
    }

    /// What the segment is.
    pub fn header(&self) -> &SegmentHeader {
        &self.header
    }

    /// The laws of its summaries.
    pub fn laws(&self) -> Laws {
        Laws { max_hold_ns: self.header.max_hold_ns }
    }

    /// How many blocks the segment has, those not taken yet included.
    pub fn block_count(&self) -> u32 {
        self.next_block
    }

    /// The index of a series by its name.
    pub fn find(&self, name: &SeriesName) -> Option<SeriesIndex> {
        self.by_name.get(name).copied().map(SeriesIndex)
    }

    /// How many series there are.
    pub fn series_count(&self) -> u32 {
        self.defined.len() as u32
    }

    /// Name, kind and unit of a series.
    pub fn series(&self, index: SeriesIndex) -> Option<(&SeriesName, ValueKind, &str)> {
        self.defined.get(index.0 as usize).map(|defined| (&defined.name, defined.kind, &*defined.unit))
    }

    /// The index of a series; a new one is defined with this kind and unit (cut to 255 bytes).
    pub fn define(&mut self, name: &SeriesName, kind: ValueKind, unit: &str) -> SeriesIndex {
        if let Some(index) = self.find(name) {
            return index;
        }
        let index = self.defined.len() as u32;
        let end =
            (0..=unit.len().min(UNIT_LEN_MAX)).rev().find(|end| unit.is_char_boundary(*end)).unwrap_or(0);
        let unit = self.units.share(unit.get(..end).unwrap_or_default());
        self.by_name.insert(name.clone(), index);
        self.defined.push(Defined { name: name.clone(), kind, unit });
        self.series.push(OpenSeries::new(index, kind));
        SeriesIndex(index)
    }

    /// Timestamp of the newest row of a series, in leaves or not.
    pub fn last_at(&self, index: SeriesIndex) -> Option<i64> {
        self.series.get(index.0 as usize).and_then(OpenSeries::last_at)
    }

    /// Whether a point of a series at `at` still finds its place among rows that are not coded, or behind all.
    pub fn takes(&self, index: SeriesIndex, at: i64) -> bool {
        self.series.get(index.0 as usize).is_some_and(|series| series.takes(at))
    }

    /// Whether a row that is not coded is exactly this point.
    pub fn repeats(&self, index: SeriesIndex, point: &Point<'_>) -> bool {
        let series = self.series.get(index.0 as usize);
        series.is_some_and(|series| series.repeats(point.timestamp.0, &point.value))
    }

    /// Takes a point that stands in the journal at `lsn` (positions never fall; 0 without a journal).
    ///
    /// # Errors
    /// `Late` where rows of the series at or behind its timestamp are coded already; otherwise what is wrong with the request.
    pub fn append(
        &mut self,
        index: SeriesIndex,
        point: &Point<'_>,
        lsn: u64,
    ) -> Result<Appended, AppendError> {
        let at = point.timestamp.0;
        if self.sealed {
            return Err(AppendError::Sealed);
        }
        if !self.header.partition.contains(at) || at == i64::MAX {
            return Err(AppendError::OutsidePartition(self.header.partition));
        }
        if matches!(point.value, Value::State(text) if text.len() > STATE_LEN_MAX) {
            return Err(AppendError::StateTooLong);
        }
        // Far below the limit there is room for the nodes and the tail of any segment.
        if self.next_block >= VIRTUAL_BLOCK_MIN / 2 {
            return Err(AppendError::Full);
        }
        let series = self.series.get_mut(index.0 as usize).ok_or(AppendError::UnknownSeries)?;
        if !series.takes(at) {
            return Err(AppendError::Late);
        }
        self.next_lsn = self.next_lsn.max(lsn.saturating_add(1));
        let placed = series.append(at, &point.value, lsn, &mut self.shop);
        if series.fills_a_leaf() {
            self.cut_leaf(index.0);
        }
        Ok(match placed {
            Placed::Appended => Appended::InOrder,
            Placed::Inserted => Appended::SortedIn,
            Placed::Replaced => Appended::Replaced,
        })
    }

    /// Puts all points that are in memory into packed leaves.
    pub fn flush(&mut self) {
        for index in 0..self.series.len() as u32 {
            let Some(series) = self.series.get_mut(index as usize) else { continue };
            if !series.is_open() {
                continue;
            }
            series.close(&mut self.shop);
            // Full leaves of its own first, then the rest beside other series.
            while self.series.get(index as usize).is_some_and(OpenSeries::fills_a_leaf) {
                self.cut_leaf(index);
            }
            while self.series.get(index as usize).is_some_and(OpenSeries::is_open) {
                if !self.cut_into_leaf(index, Filling::Any) && self.leaf.is_empty() {
                    break;
                }
                if self.series.get(index as usize).is_some_and(OpenSeries::is_open) {
                    self.finish_leaf();
                }
            }
            if let Some(series) = self.series.get_mut(index as usize) {
                series.rest();
            }
        }
        self.finish_leaf();
        // Megabytes after long chunks, and flushes are rare.
        self.shop = Workshop::default();
    }

    /// What is finished and not taken yet, in the order of addresses.
    pub fn take_blocks(&mut self) -> Vec<FinishedBlock> {
        core::mem::take(&mut self.finished)
    }

    /// Bytes of memory that grow with series and points.
    pub fn memory_len(&self) -> usize {
        let open: usize = self.series.iter().map(OpenSeries::heap_len).sum();
        open + self.series.len() * (size_of::<OpenSeries>() + size_of::<Defined>())
            + self.finished.len() * BLOCK_LEN
    }

    /// The whole span of a series, in leaves or not, and its rows in leaves.
    pub(super) fn span_of(&self, index: u32) -> Option<TimeRange> {
        let series = self.series.get(index as usize)?;
        Some(TimeRange::new(series.begin?, series.last_at()?.saturating_add(1)))
    }

    fn cut_leaf(&mut self, index: u32) {
        self.finish_leaf();
        self.cut_into_leaf(index, Filling::Full);
        self.finish_leaf();
    }

    /// Moves open rows of a series into the open leaf; `false` where none fit.
    fn cut_into_leaf(&mut self, index: u32, filling: Filling) -> bool {
        let laws = self.laws();
        let Some(series) = self.series.get_mut(index as usize) else { return false };
        let placed = series.cut(&mut *self.leaf, filling, &laws, &mut self.shop);
        // Its block number is settled when the leaf is finished: nothing else is finished before it.
        let block = self.leaf_block();
        let moved = !placed.is_empty();
        for PlacedChunk { slot, summary } in placed {
            self.note(Reference { series: index, block, slot, level: 0, summary });
        }
        moved
    }

    /// The number that the open leaf will have: behind the definitions that must precede it.
    fn leaf_block(&mut self) -> u32 {
        self.write_definitions();
        self.next_block
    }

    fn note(&mut self, reference: Reference) {
        let laws = self.laws();
        self.log.push(reference);
        if let Some(series) = self.series.get_mut(reference.series as usize) {
            series.extent.push(reference, &laws);
        }
    }

    fn finish_leaf(&mut self) {
        if self.leaf.is_empty() {
            return;
        }
        let of_leaf = self.leaf.entries().iter().filter_map(|entry| self.series.get(entry.series as usize));
        let lsn = of_leaf.filter_map(OpenSeries::open_lsn).min().unwrap_or(self.next_lsn);
        let mut block = Box::new([0; BLOCK_LEN]);
        let payload_len = self.leaf.finish(&mut block);
        self.finish(block, BlockKind::Leaf, payload_len, lsn);
        let mut log = Box::new([0; BLOCK_LEN]);
        if let Some(payload_len) = self.log.take_full(&mut log, self.next_block) {
            self.finish(log, BlockKind::ReferenceLog, payload_len, 0);
        }
    }

    pub(super) fn write_definitions(&mut self) {
        while let Some(waiting) =
            self.defined.get(self.defined_in_blocks..).filter(|waiting| !waiting.is_empty())
        {
            let mut block = Box::new([0; BLOCK_LEN]);
            let definitions = waiting.iter().map(|defined| Definition {
                name: defined.name.as_str(),
                kind: defined.kind,
                unit: &defined.unit,
            });
            let (count, payload_len) =
                definition::encode(self.defined_in_blocks as u32, definitions, &self.header, &mut block);
            self.defined_in_blocks += usize::from(count.max(1));
            self.finish(block, BlockKind::Definitions, payload_len, 0);
        }
    }

    /// Gives a block its header and the next number.
    pub(super) fn finish(
        &mut self,
        mut block: Box<Block>,
        kind: BlockKind,
        payload_len: u16,
        lsn: u64,
    ) -> u32 {
        let number = self.next_block;
        let header = self.block_header(kind, payload_len, number, lsn);
        seal(&mut block, &header, &self.header.id.device);
        self.finished.push(FinishedBlock { number, bytes: block });
        self.next_block += 1;
        number
    }

    pub(super) fn block_header(
        &self,
        kind: BlockKind,
        payload_len: u16,
        block: u32,
        lsn: u64,
    ) -> BlockHeader {
        BlockHeader {
            kind,
            flags: 0,
            payload_len,
            block,
            number: self.header.id.number,
            epoch: self.header.id.epoch,
            write_epoch: self.write_epoch,
            lsn,
        }
    }

    /// Rows in leaves, of all series.
    pub(super) fn rows_in_leaves(&self) -> u64 {
        self.series.iter().map(|series| series.extent.rows()).sum()
    }

    /// The summary of nothing, for a series without rows.
    pub(super) fn no_rows(index: u32) -> Reference {
        Reference {
            series: index,
            block: 0,
            slot: 0,
            level: 0,
            summary: Summary { begin: 0, end: 1, ..Summary::EMPTY },
        }
    }
}
