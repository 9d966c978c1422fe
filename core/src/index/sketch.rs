//! A Count-Min table of posting lists: written in one pass, read cell by cell.
//!
//! Layout: `docs/format-index.md`, chapter 5. Memory of a lookup is bounded by the lists it reads,
//! whatever the cardinality; an answer holds every wanted position and perhaps others.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::error::{BuildError, IndexError};
use super::hash::column;
use super::posting::{PostingWriter, Ranges, intersect, read, unite};
use super::source::{Lookup, Round, Source};
use crate::block::get_u32;

/// Columns of the widest table that is written, as a power of two.
const BITS_WRITTEN_MAX: u32 = 10;
const BITS_MAX: u8 = 16;
const ROWS_MAX: u8 = 4;
/// Bytes of a list that is read whatever the length of the others.
const SHORT_LIST_BYTES: u64 = 4096;

/// Rows and columns of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) rows: u8,
    pub(super) bits: u8,
}

impl Shape {
    /// The shape written for so many distinct keys.
    pub(super) fn of_keys(keys: usize) -> Self {
        let bits = keys.div_ceil(2).next_power_of_two().trailing_zeros().min(BITS_WRITTEN_MAX);
        Self { rows: if bits < 3 { 1 } else { 2 }, bits: bits as u8 }
    }

    /// A shape read from a file.
    pub(super) fn checked(rows: u8, bits: u8) -> Result<Self, IndexError> {
        if rows == 0 || rows > ROWS_MAX || bits > BITS_MAX {
            return Err(IndexError::BadTable);
        }
        Ok(Self { rows, bits })
    }

    const fn cells(self) -> usize {
        (self.rows as usize) << self.bits
    }

    fn cell(self, key: u64, row: u8) -> usize {
        ((row as usize) << self.bits).saturating_add(column(key, row.into(), self.bits.into()) as usize)
    }

    const fn offsets_bytes(self) -> u64 {
        (self.cells() as u64 + 1) * 4
    }
}

/// Collects the positions of keys.
#[derive(Debug)]
pub(super) struct SketchWriter {
    shape: Shape,
    cells: Vec<PostingWriter>,
}

impl SketchWriter {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, cells: vec![PostingWriter::default(); shape.cells()] }
    }

    /// Adds a position of a key; positions must not fall.
    pub(super) fn push(&mut self, key: u64, position: u32) {
        for row in 0..self.shape.rows {
            if let Some(cell) = self.cells.get_mut(self.shape.cell(key, row)) {
                cell.push(position);
            }
        }
    }

    /// The bytes of the table.
    pub(super) fn finish(self) -> Result<Vec<u8>, BuildError> {
        let mut out = Vec::new();
        let mut lists = Vec::new();
        for cell in self.cells {
            out.extend_from_slice(
                &u32::try_from(lists.len()).map_err(|_| BuildError::TooMuch)?.to_le_bytes(),
            );
            lists.append(&mut cell.finish());
        }
        out.extend_from_slice(&u32::try_from(lists.len()).map_err(|_| BuildError::TooMuch)?.to_le_bytes());
        out.append(&mut lists);
        Ok(out)
    }
}

/// A stored table.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    /// Where it stands in the stream.
    pub(super) section: Range<u64>,
    pub(super) shape: Shape,
}

/// One list: where its bytes are, and which condition and word it answers.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    table: usize,
    range: Range<u64>,
    condition: usize,
    word: usize,
}

impl Sketch {
    /// The cells of a key, once their offsets are at hand.
    pub(super) fn cells<S: Source + ?Sized>(
        &self,
        round: &mut Round<'_, S>,
        key: u64,
        at: (usize, usize, usize),
    ) -> Result<Vec<Cell>, IndexError> {
        let (table, condition, word) = at;
        let mut cells = Vec::new();
        let len = self.section.end.saturating_sub(self.section.start);
        for row in 0..self.shape.rows {
            let begin = (self.shape.cell(key, row) as u64).saturating_mul(4);
            let bytes = round.get(begin..begin.saturating_add(8))?;
            if bytes.is_empty() {
                continue;
            }
            let lists = self.shape.offsets_bytes();
            let begin = lists.saturating_add(get_u32(&bytes, 0)?.into());
            let end = lists.saturating_add(get_u32(&bytes, 4)?.into());
            if begin > end || end > len {
                return Err(IndexError::BadTable);
            }
            cells.push(Cell { table, range: begin..end, condition, word });
        }
        Ok(cells)
    }
}

/// The positions that are in every condition; a condition is the union of its words, a word the
/// intersection of its cells. Long cells are passed over where shorter ones answer.
pub(super) fn resolve<S: Source + ?Sized>(
    source: &S,
    tables: [&Sketch; 2],
    cells: &[Cell],
    series: u32,
) -> Result<Lookup<Ranges>, IndexError> {
    let chosen = choose(cells);
    let mut rounds = tables.map(|table| Round::new(source, table.section.clone()));
    let mut lists = Vec::new();
    for cell in &chosen {
        let round = rounds.get_mut(cell.table).ok_or(IndexError::BadTable)?;
        lists.push(round.get(cell.range.clone())?);
    }
    let need: Vec<_> = rounds.into_iter().flat_map(Round::into_need).collect();
    if !need.is_empty() {
        return Ok(Lookup::Need(need));
    }
    let mut all: Ranges = core::iter::once(0..series).filter(|range| !range.is_empty()).collect();
    // Cells are ordered by condition and word, so each group of equal ones is one run.
    for condition in
        chosen.iter().zip(&lists).collect::<Vec<_>>().chunk_by(|a, b| a.0.condition == b.0.condition)
    {
        let mut either = Ranges::new();
        for word in condition.chunk_by(|a, b| a.0.word == b.0.word) {
            let mut both = all.clone();
            for (_, list) in word {
                both = intersect(&both, &read(list, series)?);
            }
            either = unite(&either, &both);
        }
        all = either;
    }
    Ok(Lookup::Found(all))
}

/// The cells to read. Of a word any one cell will do; of the conditions any one will do. Beyond the
/// cheapest of each, only short lists are worth their bytes.
fn choose(cells: &[Cell]) -> Vec<&Cell> {
    let bytes = |cell: &Cell| cell.range.end.saturating_sub(cell.range.start);
    let mut conditions: Vec<(u64, Vec<&Cell>)> = Vec::new();
    for condition in cells.chunk_by(|a, b| a.condition == b.condition) {
        let mut kept = Vec::new();
        for word in condition.chunk_by(|a, b| a.word == b.word) {
            let least = word.iter().map(bytes).min().unwrap_or(0);
            let enough = least.saturating_mul(2).max(SHORT_LIST_BYTES);
            kept.extend(word.iter().filter(|cell| bytes(cell) <= enough));
        }
        conditions.push((kept.iter().map(|cell| bytes(cell)).sum(), kept));
    }
    let least = conditions.iter().map(|(bytes, _)| *bytes).min().unwrap_or(0);
    let enough = least.saturating_mul(2).max(SHORT_LIST_BYTES);
    conditions.into_iter().filter(|(bytes, _)| *bytes <= enough).flat_map(|(_, cells)| cells).collect()
}
