//! A merge in progress: series by series in the order of names, row by row in the order of time.
//!
//! Memory is that of one page of series an input, one open chunk an input and series, and of the writer,
//! which is packed into leaves every some rows. Nothing that the merge writes counts before the store says so.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::input::{Damaged, Input};
use super::proof::{Proven, Stage};
use super::series_rows::SeriesRows;
use super::tombstones::{Tombstone, hidden};
use crate::point::{Point, Timestamp};
use crate::segment::{
    Carried, CarriedHead, FinishedBlock, SegmentHeader, SegmentKind, SegmentNumber, Supersedes, Writer,
};
use crate::series::SeriesIndex;
use crate::store::device::{Device, Medium};
use crate::store::error::StoreError;
use crate::store::open_segment::write_blocks;
use crate::store::segment_file::{SegmentFile, SegmentState};

/// Rows after which what waits in memory is packed into leaves.
const PACK_ROWS: usize = 1 << 18;
/// Blocks after which what is written is flushed, so that no flush has much to do.
const FLUSH_BLOCKS: u64 = 1_024;

/// How far a merge is.
#[derive(Debug)]
pub(in crate::store) enum Progress {
    /// There is more to do.
    More,
    /// The result is durable and was read back as it was written.
    Proven(Box<Proven>),
    /// An input can't be read, or the result can't be written or grows too large: the inputs stay as they are.
    Impossible,
}

/// A series that is merged.
#[derive(Debug)]
struct Current {
    index: SeriesIndex,
    /// The input, by its place, and what is left of it; the highest rank last.
    rows: Vec<(usize, SeriesRows)>,
}

/// A merge in progress.
#[derive(Debug)]
pub(in crate::store) struct Merge<D> {
    /// In the order of ranks.
    inputs: Vec<Input<D>>,
    tombstones: Vec<Tombstone>,
    pub(in crate::store) writer: Writer,
    pub(in crate::store) device: D,
    /// Where the result is written, and the name that it will have.
    pub(in crate::store) part: String,
    pub(in crate::store) path: String,
    current: Option<Current>,
    unpacked_rows: usize,
    /// Once there are no more rows.
    pub(super) stage: Option<Stage>,
    /// Blocks written so far.
    pub(in crate::store) written_blocks: u64,
    unflushed_blocks: u64,
    /// There is room for so many.
    blocks_max: u64,
}

impl<D: Device> Merge<D> {
    /// Begins to merge `files`, sealed and in the order of ranks, into the segment that `header` describes, of at most
    /// `blocks_max` blocks.
    ///
    /// # Errors
    /// The medium.
    pub(in crate::store) fn begin<M: Medium<Device = D, Error = D::Error>>(
        medium: &mut M,
        files: &[SegmentFile],
        tombstones: Vec<Tombstone>,
        header: SegmentHeader,
        path: String,
        blocks_max: u64,
    ) -> Result<Option<Self>, M::Error> {
        let mut inputs = Vec::new();
        for file in files {
            let SegmentState::Sealed(sealed) = &file.state else { return Ok(None) };
            let Some(device) = medium.open(&file.path)? else { return Ok(None) };
            inputs.push(Input::new(sealed.clone(), device));
        }
        let lowest = inputs.first().map_or(0, |input| input.sealed.header().rank);
        let applied = tombstones.iter().filter(|tombstone| tombstone.rank > lowest);
        let mut writer = Writer::new(header, header.id.epoch);
        writer.supersede(Supersedes {
            inputs: inputs.iter().map(|input| SegmentNumber::of(&input.sealed.header().id)).collect(),
            applied: applied.map(|tombstone| tombstone.segment).collect(),
        });
        let part = alloc::format!("{path}.part");
        let device = medium.create(&part)?;
        let current = None;
        Ok(Some(Self {
            inputs,
            tombstones,
            writer,
            device,
            part,
            path,
            current,
            unpacked_rows: 0,
            stage: None,
            written_blocks: 0,
            unflushed_blocks: 0,
            blocks_max,
        }))
    }

    /// Whether any input holds points in the order in which they came.
    pub(in crate::store) fn kind(files: &[SegmentFile]) -> SegmentKind {
        if files.iter().any(SegmentFile::is_in_order) { SegmentKind::InOrder } else { SegmentKind::Late }
    }

    /// The inputs.
    pub(in crate::store) fn inputs(&self) -> &[SegmentNumber] {
        &self.writer.supersedes().inputs
    }

    /// Whether it reads the segment `number`.
    pub(in crate::store) fn takes(&self, number: &SegmentNumber) -> bool {
        self.inputs().contains(number)
    }

    pub(super) fn is_in_order(&self) -> bool {
        self.writer.header().kind == SegmentKind::InOrder
    }

    /// Whether these blocks keep the result within its bound.
    pub(super) fn has_room(&self, blocks: &[FinishedBlock]) -> bool {
        self.written_blocks.saturating_add(blocks.len() as u64) <= self.blocks_max
    }

    /// A result in order carries on what the newest of its inputs that can say it says of others, and where that
    /// ended itself. Where none can, or a list is short, more segments are read when the partition is opened.
    pub(super) fn carry(&mut self) {
        if !self.is_in_order() {
            return;
        }
        let (mut segments, ends) = self.inputs.iter().rev().find_map(Input::heads).unwrap_or_default();
        segments.retain(|listed| !self.takes(&listed.segment));
        let heads = ends.into_iter().map(|(name, kind, unit, at)| CarriedHead { name, kind, unit, at });
        self.writer.carry(Carried { segments, heads: heads.collect() });
    }

    /// Writes finished blocks of the result.
    pub(super) fn write(&mut self, blocks: &[FinishedBlock]) -> Result<(), D::Error> {
        let count = blocks.len() as u64;
        self.written_blocks += count;
        self.unflushed_blocks += count;
        write_blocks(&mut self.device, blocks)?;
        if self.unflushed_blocks >= FLUSH_BLOCKS {
            self.device.flush()?;
            self.unflushed_blocks = 0;
        }
        Ok(())
    }

    /// Merges about `rows_max` rows, or does a step of what comes behind the last one.
    ///
    /// # Errors
    /// The medium, where the result can't be written; a fault of the store.
    pub(in crate::store) fn step(&mut self, rows_max: usize) -> Result<Progress, StoreError<D::Error>> {
        if let Some(stage) = self.stage.take() {
            return Ok(self.end_step(stage));
        }
        let mut left = rows_max;
        let mut is_done = false;
        while left > 0 && !is_done {
            let step = if self.current.is_some() { self.rows(&mut left)? } else { self.next_series() };
            match step {
                Ok(is_last) => is_done = is_last,
                Err(Damaged) => return Ok(Progress::Impossible),
            }
        }
        if self.unpacked_rows >= PACK_ROWS || is_done {
            self.writer.flush();
            self.unpacked_rows = 0;
        }
        let blocks = self.writer.take_blocks();
        if !self.has_room(&blocks) {
            return Ok(Progress::Impossible);
        }
        self.write(&blocks)?;
        if is_done {
            match self.seal() {
                Ok(stage) => self.stage = Some(stage),
                Err(Damaged) => return Ok(Progress::Impossible),
            }
        }
        Ok(Progress::More)
    }

    /// Takes up the next series; true where there is none.
    fn next_series(&mut self) -> Result<bool, Damaged> {
        let mut next = None;
        for input in &mut self.inputs {
            if let Some(name) = input.series()?
                && next.as_ref().is_none_or(|least| name < least)
            {
                next = Some(name.clone());
            }
        }
        let Some(name) = next else { return Ok(true) };
        let mut current: Option<Current> = None;
        for (at, input) in self.inputs.iter_mut().enumerate() {
            if input.series()? != Some(&name) {
                continue;
            }
            let Some((entry, roots)) = input.take() else { continue };
            let hidden = hidden(&self.tombstones, &name, input.sealed.header().rank);
            let writer = &mut self.writer;
            let current = current.get_or_insert_with(|| Current {
                index: writer.define(&name, entry.kind, &entry.unit),
                rows: Vec::new(),
            });
            current.rows.push((at, SeriesRows::new(roots, hidden)));
        }
        self.current = current;
        Ok(false)
    }

    /// Merges rows of the current series until it ends or `left` is used up.
    fn rows(&mut self, left: &mut usize) -> Result<Result<bool, Damaged>, StoreError<D::Error>> {
        let Some(Current { index, rows }) = &mut self.current else { return Ok(Ok(false)) };
        while *left > 0 {
            let mut first: Option<i64> = None;
            for (at, rows) in rows.iter_mut() {
                let Some(input) = self.inputs.get_mut(*at) else { continue };
                match rows.peek(input.blocks()) {
                    Ok(Some(time)) => first = Some(first.map_or(time, |first| first.min(time))),
                    Ok(None) => {}
                    Err(Damaged) => return Ok(Err(Damaged)),
                }
            }
            let Some(first) = first else {
                self.current = None;
                return Ok(Ok(false));
            };
            // The highest rank stands last; all that have this time go on.
            let mut is_taken = false;
            for (at, rows) in rows.iter_mut().rev() {
                let Some(input) = self.inputs.get_mut(*at) else { continue };
                if rows.peek(input.blocks()) != Ok(Some(first)) {
                    continue;
                }
                if let Some(value) = rows.value().filter(|_| !is_taken) {
                    let point = Point { timestamp: Timestamp(first), value };
                    self.writer.append(*index, &point, 0).map_err(StoreError::Refused)?;
                    is_taken = true;
                }
                rows.advance();
            }
            self.unpacked_rows += 1;
            *left -= 1;
        }
        Ok(Ok(false))
    }
}
