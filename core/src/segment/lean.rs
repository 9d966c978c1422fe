//! The writer without a heap: floats of a few series through any `embedded_io::Write`, block by block.
//!
//! For firmware: all memory is in the struct, its size fixed by const parameters. Rows are coded `ROWS` at a time
//! into packed leaves; an inner node is written when `FAN` references fill it, as the classic tree does.
//! The segment is sealed by [`LeanWriter::finish`] with catalog and roots, without an index; every
//! reader takes it. There is no way back in the file: blocks are written once, in order.

use super::definition::{self, Definition, UNIT_LEN_MAX};
use super::footer::{Footer, Section, SectionKind};
use super::header::SegmentHeader;
use super::lean_out::{BlockOut, TailSink};
use crate::block::{BLOCK_LEN, BlockKind};
use crate::codec::{self, Plan, Rows, Scratch, Values};
use crate::point::{TimeRange, ValueKind};
use crate::series::{NameError, SeriesIndex, is_canonical};
use crate::tree::leaf::{Entry, LeafBuilder};
use crate::tree::node::{self, FAN_OUT_MAX};
use crate::tree::{Laws, Reference, Summary, summarize};

/// Versions of the sections that are written.
const CATALOG_VERSION: u16 = 1;
const ROOTS_VERSION: u16 = 2;
/// Chunks of one leaf.
const SLOTS: usize = 16;

/// Why the writer stops. What was written before stays readable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeanError<E> {
    /// The sink refused a block.
    Sink(E),
    /// More series than the writer has room for.
    TooManySeries,
    /// No canonical series name.
    Name(NameError),
    /// A unit of more than 255 bytes.
    Unit,
    /// No such series.
    UnknownSeries,
    /// The point is not behind the last one of its series.
    OutOfOrder,
    /// The point is outside of the segment's partition.
    OutsidePartition,
    /// More points than the levels of the tree can name, or more blocks than a segment may have.
    Full,
}

impl<E: core::fmt::Display> core::fmt::Display for LeanError<E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Sink(error) => write!(f, "the sink refused a block: {error}"),
            Self::TooManySeries => write!(f, "more series than the writer has room for"),
            Self::Name(error) => write!(f, "{error}"),
            Self::Unit => write!(f, "a unit of more than {UNIT_LEN_MAX} bytes"),
            Self::UnknownSeries => write!(f, "no such series"),
            Self::OutOfOrder => write!(f, "the point is not behind the last one of its series"),
            Self::OutsidePartition => write!(f, "the point is outside of the segment's partition"),
            Self::Full => write!(f, "the segment is full"),
        }
    }
}

impl<E: core::fmt::Debug + core::fmt::Display> core::error::Error for LeanError<E> {}

/// A series and all its memory.
struct LeanSeries<'n, const ROWS: usize, const FAN: usize, const LEVELS: usize> {
    name: &'n str,
    unit: &'n str,
    timestamps: heapless::Vec<i64, ROWS>,
    values: heapless::Vec<f64, ROWS>,
    plan: Plan,
    last_at: Option<i64>,
    levels: [heapless::Vec<Reference, FAN>; LEVELS],
}

/// Writes one segment of floats.
pub struct LeanWriter<'n, W, const SERIES: usize, const ROWS: usize, const FAN: usize, const LEVELS: usize> {
    out: BlockOut<W>,
    header: SegmentHeader,
    series: heapless::Vec<LeanSeries<'n, ROWS, FAN, LEVELS>, SERIES>,
    defined: usize,
    leaf: LeafBuilder<SLOTS>,
    placed: heapless::Vec<(u32, Summary), SLOTS>,
    rows: u64,
    span: TimeRange,
}

impl<'n, W, const SERIES: usize, const ROWS: usize, const FAN: usize, const LEVELS: usize>
    LeanWriter<'n, W, SERIES, ROWS, FAN, LEVELS>
where
    W: embedded_io::Write,
{
    const FITS: () = assert!(
        ROWS >= 1 && ROWS <= codec::ROWS_MAX && FAN >= 2 && FAN <= FAN_OUT_MAX && LEVELS >= 1 && LEVELS <= 8
    );

    /// Begins the segment and writes its header.
    ///
    /// # Errors
    /// `Sink`.
    pub fn new(sink: W, header: SegmentHeader, write_epoch: u32) -> Result<Self, LeanError<W::Error>> {
        let () = Self::FITS;
        let out = BlockOut::begin(sink, header, write_epoch)?;
        Ok(Self {
            out,
            header,
            series: heapless::Vec::new(),
            defined: 0,
            leaf: LeafBuilder::new(),
            placed: heapless::Vec::new(),
            rows: 0,
            span: TimeRange::new(i64::MAX, i64::MIN),
        })
    }

    /// Defines a series by its canonical name.
    ///
    /// # Errors
    /// `Name`, `Unit` or `TooManySeries`.
    pub fn define(&mut self, name: &'n str, unit: &'n str) -> Result<SeriesIndex, LeanError<W::Error>> {
        if let Some(known) = self.series.iter().position(|series| series.name == name) {
            return Ok(SeriesIndex(known as u32));
        }
        is_canonical(name).map_err(LeanError::Name)?;
        if unit.len() > UNIT_LEN_MAX {
            return Err(LeanError::Unit);
        }
        let series = LeanSeries {
            name,
            unit,
            timestamps: heapless::Vec::new(),
            values: heapless::Vec::new(),
            plan: Plan::default(),
            last_at: None,
            levels: [const { heapless::Vec::new() }; LEVELS],
        };
        self.series.push(series).map_err(|_| LeanError::TooManySeries)?;
        Ok(SeriesIndex(self.series.len() as u32 - 1))
    }

    /// Takes a reading at `timestamp_ns`.
    ///
    /// # Errors
    /// `OutOfOrder`, `OutsidePartition` or `UnknownSeries`, which change nothing; `Sink` or `Full`, which end the segment.
    pub fn append(
        &mut self,
        index: SeriesIndex,
        timestamp_ns: i64,
        value: f64,
    ) -> Result<(), LeanError<W::Error>> {
        if !self.header.partition.contains(timestamp_ns) || timestamp_ns == i64::MAX {
            return Err(LeanError::OutsidePartition);
        }
        let series = self.series.get_mut(index.0 as usize).ok_or(LeanError::UnknownSeries)?;
        if series.last_at.is_some_and(|last| timestamp_ns <= last) {
            return Err(LeanError::OutOfOrder);
        }
        if series.timestamps.is_full() {
            self.code(index.0)?;
        }
        let series = self.series.get_mut(index.0 as usize).ok_or(LeanError::UnknownSeries)?;
        series.last_at = Some(timestamp_ns);
        // There is room: a full buffer was just coded.
        let _ = series.timestamps.push(timestamp_ns);
        let _ = series.values.push(value);
        self.rows += 1;
        self.span = TimeRange::new(self.span.begin.min(timestamp_ns), self.span.end.max(timestamp_ns + 1));
        Ok(())
    }

    /// Writes everything that is in memory, seals the segment, flushes the sink and gives it back.
    ///
    /// # Errors
    /// `Sink` or `Full`.
    pub fn finish(mut self) -> Result<W, LeanError<W::Error>> {
        for index in 0..self.series.len() as u32 {
            self.code(index)?;
        }
        self.finish_leaf()?;
        for index in 0..self.series.len() {
            for level in 0..LEVELS.saturating_sub(1) {
                let above = self.levels_above(index, level);
                // One reference with nothing above it is the root.
                if self.level(index, level).is_some_and(|own| own.len() > usize::from(!above)) {
                    self.write_node(index, level)?;
                }
            }
        }
        self.write_tail()?;
        self.out.finish()
    }

    fn level(&self, index: usize, level: usize) -> Option<&heapless::Vec<Reference, FAN>> {
        self.series.get(index)?.levels.get(level)
    }

    fn levels_above(&self, index: usize, level: usize) -> bool {
        (level + 1..LEVELS).any(|above| self.level(index, above).is_some_and(|refs| !refs.is_empty()))
    }

    /// Codes the buffered rows of a series into leaves.
    fn code(&mut self, index: u32) -> Result<(), LeanError<W::Error>> {
        let mut taken = 0;
        loop {
            let Some(series) = self.series.get(index as usize) else { return Ok(()) };
            let (timestamps, values) = (series.timestamps.get(taken..), series.values.get(taken..));
            let (Some(timestamps), Some(values)) = (timestamps, values) else { return Ok(()) };
            let rows = Rows { timestamps, values: Values::Float(values), gaps: &[] };
            let Some((first, last)) = timestamps.first().copied().zip(timestamps.last().copied()) else {
                break;
            };
            let entry = Entry { series: index, rows: rows.len() as u16, begin: first, last, len: 0 };
            let mut bytes = [0; BLOCK_LEN];
            let room = self.leaf.room(&entry).min(BLOCK_LEN);
            let (plan, count, len) =
                pack::<ROWS>(&rows, &series.plan, bytes.get_mut(..room).unwrap_or_default());
            if count == 0 {
                self.finish_leaf()?;
                continue;
            }
            let some = rows.prefix(count);
            let last = some.timestamps.last().copied().unwrap_or(first);
            let summary = summarize(&some, &Laws { max_hold_ns: self.header.max_hold_ns });
            let entry = Entry { rows: count as u16, last, len: len as u16, ..entry };
            if self.leaf.push(entry, bytes.get(..len).unwrap_or_default()).is_none()
                || self.placed.push((index, summary)).is_err()
            {
                return Err(LeanError::Full);
            }
            taken += count;
            if let Some(series) = self.series.get_mut(index as usize) {
                series.plan = plan;
            }
        }
        if let Some(series) = self.series.get_mut(index as usize) {
            series.timestamps.clear();
            series.values.clear();
        }
        Ok(())
    }

    fn finish_leaf(&mut self) -> Result<(), LeanError<W::Error>> {
        if self.leaf.is_empty() {
            return Ok(());
        }
        self.write_definitions()?;
        let mut block = [0; BLOCK_LEN];
        let payload_len = self.leaf.finish(&mut block);
        let number = self.out.write(&mut block, BlockKind::Leaf, payload_len)?;
        let placed = core::mem::take(&mut self.placed);
        for (slot, (series, summary)) in (0..).zip(placed) {
            self.note(series as usize, 0, Reference { series, block: number, slot, level: 0, summary })?;
        }
        Ok(())
    }

    /// Puts a reference into a level, whose node is written first where it is full.
    fn note(&mut self, index: usize, level: usize, reference: Reference) -> Result<(), LeanError<W::Error>> {
        if self.level(index, level).is_some_and(heapless::Vec::is_full) {
            self.write_node(index, level)?;
        }
        let levels = self.series.get_mut(index).map(|series| &mut series.levels);
        let own = levels.and_then(|levels| levels.get_mut(level)).ok_or(LeanError::Full)?;
        own.push(reference).map_err(|_| LeanError::Full)
    }

    /// Writes the references of a level as nodes and puts what names them into the level above.
    fn write_node(&mut self, index: usize, level: usize) -> Result<(), LeanError<W::Error>> {
        let laws = Laws { max_hold_ns: self.header.max_hold_ns };
        let levels = self.series.get_mut(index).map(|series| &mut series.levels);
        let own = levels.and_then(|levels| levels.get_mut(level)).ok_or(LeanError::Full)?;
        let references = core::mem::take(own);
        let mut rest: &[Reference] = &references;
        while !rest.is_empty() {
            let (some, behind) = rest.split_at_checked(node::fit(rest)).ok_or(LeanError::Full)?;
            let mut block = [0; BLOCK_LEN];
            let height = level as u8 + 1;
            let len = node::encode(some, index as u32, height, &mut block).ok_or(LeanError::Full)?;
            let number = self.out.write(&mut block, BlockKind::Node, len)?;
            let summary = node::summary_of(some, &laws);
            let above = Reference { series: index as u32, block: number, slot: 0, level: height, summary };
            self.note(index, level + 1, above)?;
            rest = behind;
        }
        Ok(())
    }

    fn write_definitions(&mut self) -> Result<(), LeanError<W::Error>> {
        while self.defined < self.series.len() {
            let mut block = [0; BLOCK_LEN];
            let waiting = self.series.iter().skip(self.defined);
            let definitions = waiting.map(|series| Definition {
                name: series.name,
                kind: ValueKind::Float,
                unit: series.unit,
            });
            let (count, len) = definition::encode(self.defined as u32, definitions, &self.header, &mut block);
            self.defined += usize::from(count.max(1));
            self.out.write(&mut block, BlockKind::Definitions, len)?;
        }
        Ok(())
    }

    /// What names all rows of a series.
    fn root(&self, index: usize) -> Reference {
        let levels = self.series.get(index).map(|series| series.levels.iter().rev());
        let top = levels.into_iter().flatten().find_map(|level| level.first().copied());
        let none = Summary { begin: 0, end: 1, ..Summary::EMPTY };
        top.unwrap_or(Reference { series: index as u32, block: 0, slot: 0, level: 0, summary: none })
    }

    fn write_tail(&mut self) -> Result<(), LeanError<W::Error>> {
        self.write_definitions()?;
        let mut order: heapless::Vec<usize, SERIES> = (0..self.series.len()).collect();
        order.sort_unstable_by_key(|index| self.series.get(*index).map(|series| series.name));
        let mut roots: heapless::Vec<Reference, SERIES> = heapless::Vec::new();
        for index in &order {
            // As many as there are series.
            let _ = roots.push(self.root(*index));
        }
        let tail_block = self.out.next_block;
        let mut tail = TailSink::new(&mut self.out);
        let names =
            order.iter().filter_map(|index| self.series.get(*index)).map(|series| (series.name, series.unit));
        let mut sections = heapless::Vec::new();
        let parts = [(SectionKind::Catalog, CATALOG_VERSION), (SectionKind::Roots, ROOTS_VERSION)];
        for (kind, version) in parts {
            let begin = tail.len();
            match kind {
                SectionKind::Catalog => tail.put_catalog(names.clone())?,
                _ => tail.put_roots(&roots)?,
            }
            // There is room for many more sections than there are.
            let _ = sections.push(Section { kind: kind as u16, version, begin, end: tail.len() });
        }
        let span = if self.rows == 0 { TimeRange::new(0, 0) } else { self.span };
        let header = self.header;
        tail.finish(&Footer { header, tail_block, node_block: 0, rows: self.rows, span, sections })
    }
}

/// Plans and codes as many of `rows` as `out` holds; gives the plan, how many, and the bytes.
fn pack<const ROWS: usize>(rows: &Rows<'_>, last: &Plan, out: &mut [u8]) -> (Plan, usize, usize) {
    let (mut integers, mut floats) = ([[0; ROWS]; codec::SCRATCH_INTEGERS], [0.0; ROWS]);
    let mut scratch = Scratch::new(integers.as_flattened_mut(), &mut floats);
    let plan = codec::choose(rows, last, &mut scratch);
    let mut count = codec::fit(rows, &plan, &mut scratch, out.len());
    while count > 0 {
        match codec::encode(&rows.prefix(count), &plan, &mut scratch, out) {
            Ok(encoded) => return (plan, count, encoded.len),
            // A guess that was too bold: a little less.
            Err(_) => count -= (count / 32).max(1),
        }
    }
    (*last, 0, 0)
}

#[cfg(test)]
#[path = "lean_tests.rs"]
mod tests;
