//! Writing segment files: one in-order segment that stays open, and late ones that are written whole.
//!
//! A segment's name appears only when its header is durable; a late one only when all of it is. The
//! footer is written after everything before it was flushed, so a footer that can be read proves
//! the rest.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::device::{Device, Medium};
use super::error::StoreError;
use super::head::Placement;
use super::segment_file::{self, SegmentFile, SegmentState};
use super::series_table::SeriesTable;
use super::written::Written;
use crate::block::BLOCK_LEN;
use crate::point::Point;
use crate::segment::{FinishedBlock, Sealed, SegmentHeader, Supersedes, Writer};
use crate::series::SeriesIndex;

/// An in-order segment that is being written.
#[derive(Debug)]
pub(super) struct OpenSegment<D> {
    pub(super) file: SegmentFile,
    pub(super) writer: Writer,
    pub(super) device: D,
    /// Finished blocks that could not be written: the store has failed, and they are read from here.
    pub(super) unwritten: Vec<FinishedBlock>,
    /// Blocks that the file has room for.
    length: u32,
    grow: u32,
    /// For each series of the store its index in the segment plus 1; 0 where it has none.
    indices: Vec<u32>,
}

impl<D: Device> OpenSegment<D> {
    /// Begins a segment: its header is durable under its name when this returns.
    pub(super) fn create<M: Medium<Device = D, Error = D::Error>>(
        medium: &mut M,
        partition: &str,
        header: SegmentHeader,
        write_epoch: u32,
        grow: u32,
        written: &mut Written,
    ) -> Result<Self, D::Error> {
        let mut writer = Writer::new(header, write_epoch);
        let path = segment_file::path(partition, &header.id);
        let device = write_whole(medium, partition, &path, writer.take_blocks(), written)?;
        let state = SegmentState::Open;
        let supersedes = Supersedes::default();
        let file =
            SegmentFile { path, header, block_count: 1, file_blocks: 1, state, supersedes, sealed_epoch: 0 };
        Ok(Self { file, writer, device, unwritten: Vec::new(), length: 1, grow, indices: Vec::new() })
    }

    /// Goes on with a segment that a scan found. Blocks from `trusted` on were never known to be flushed: a
    /// flush that failed may have left them readable and not durable, and the next one would say `Ok` all the
    /// same. So they are written again.
    pub(super) fn resume(
        mut file: SegmentFile,
        writer: Writer,
        mut device: D,
        trusted: u32,
        grow: u32,
        written: &mut Written,
    ) -> Result<Self, D::Error> {
        let length = file.block_count;
        file.block_count = writer.block_count();
        file.state = SegmentState::Open;
        let mut bytes = vec![0; BLOCK_LEN];
        for block in trusted..file.block_count {
            device.read(block, &mut bytes)?;
            device.write(block, &bytes)?;
            written.note_block(&bytes);
        }
        Ok(Self { file, writer, device, unwritten: Vec::new(), length, grow, indices: Vec::new() })
    }

    /// Where a point belongs that is not after the last one of its series.
    pub(super) fn place(&self, series: u32, point: &Point<'_>) -> Placement {
        let index = self.indices.get(series as usize).and_then(|index| index.checked_sub(1));
        match index.map(SeriesIndex) {
            Some(index) if self.writer.repeats(index, point) => Placement::Repeat,
            Some(index) if self.writer.takes(index, point.timestamp.0) => Placement::Between,
            _ => Placement::Late,
        }
    }

    /// Whether a point of a series that has rows here still finds its place among or behind them.
    pub(super) fn takes(&self, series: u32, at: i64) -> bool {
        let index = self.indices.get(series as usize).and_then(|index| index.checked_sub(1));
        index.is_none_or(|index| self.writer.takes(SeriesIndex(index), at))
    }

    /// Takes an in-order point.
    pub(super) fn append(
        &mut self,
        table: &SeriesTable,
        series: u32,
        point: &Point<'_>,
        lsn: u64,
    ) -> Result<(), StoreError<D::Error>> {
        let at = series as usize;
        if self.indices.len() <= at {
            self.indices.resize(at + 1, 0);
        }
        if self.indices[at] == 0 {
            let (name, kind, unit) = table.get(series).ok_or(StoreError::UnknownSeries)?;
            self.indices[at] = self.writer.define(name, kind, unit).0 + 1;
        }
        let index = SeriesIndex(self.indices[at] - 1);
        self.writer.append(index, point, lsn).map_err(StoreError::Refused)?;
        Ok(())
    }

    /// Writes the blocks that are finished; they are not flushed.
    pub(super) fn write_out(&mut self, written: &mut Written) -> Result<(), D::Error> {
        self.unwritten.append(&mut self.writer.take_blocks());
        if let Some(last) = self.unwritten.last() {
            if last.number >= self.length {
                let length = last.number.saturating_add(1).max(self.length.saturating_add(self.grow));
                self.device.set_length(length)?;
                self.length = length;
            }
            write_blocks(&mut self.device, &self.unwritten)?;
            written.note(&self.unwritten);
            self.file.block_count = last.number + 1;
            self.unwritten.clear();
        }
        Ok(())
    }

    /// Puts all points into leaves and flushes: the number of blocks that may be trusted.
    pub(super) fn flush(&mut self, written: &mut Written) -> Result<u32, D::Error> {
        self.writer.flush();
        self.write_out(written)?;
        self.device.flush()?;
        Ok(self.writer.block_count())
    }

    /// Blocks that the file takes.
    pub(super) fn file_blocks(&self) -> u32 {
        self.length
    }

    /// Cuts or extends the file.
    pub(super) fn set_length(&mut self, block_count: u32) -> Result<(), D::Error> {
        self.device.set_length(block_count)?;
        self.length = block_count;
        Ok(())
    }
}

/// Writes a sealed segment of late points, whole or not at all.
pub(super) fn write_late<M: Medium>(
    medium: &mut M,
    partition: &str,
    mut writer: Writer,
    written: &mut Written,
) -> Result<SegmentFile, M::Error> {
    let header = *writer.header();
    let is_sealed = writer.seal().is_ok();
    let path = segment_file::path(partition, &header.id);
    let device = write_whole(medium, partition, &path, writer.take_blocks(), written)?;
    let block_count = writer.block_count();
    let state = if is_sealed { read_back(&device, block_count)? } else { SegmentState::Unsealed };
    let (file_blocks, supersedes, sealed_epoch) = (block_count, Supersedes::default(), writer.write_epoch());
    Ok(SegmentFile { path, header, block_count, file_blocks, state, supersedes, sealed_epoch })
}

/// What the footer that was just written says.
pub(super) fn read_back<D: Device>(device: &D, block_count: u32) -> Result<SegmentState, D::Error> {
    let mut blocks = crate::segment::BlockMap::new();
    let opened = segment_file::ask(device, &mut blocks, |blocks| Sealed::open(block_count, blocks))?;
    Ok(opened.map_or(SegmentState::Unsealed, |sealed| SegmentState::Sealed(Box::new(sealed))))
}

/// Writes a file under a temporary name, flushes it, and gives it its own.
fn write_whole<M: Medium>(
    medium: &mut M,
    partition: &str,
    path: &str,
    blocks: Vec<FinishedBlock>,
    written: &mut Written,
) -> Result<M::Device, M::Error> {
    let directory = format!("{}/{partition}", segment_file::DIRECTORY);
    medium.create_directory(&directory)?;
    medium.sync_directory(segment_file::DIRECTORY)?;
    let part = format!("{path}.part");
    let mut device = medium.create(&part)?;
    write_blocks(&mut device, &blocks)?;
    written.note(&blocks);
    device.flush()?;
    medium.rename(&part, path)?;
    medium.sync_directory(&directory)?;
    Ok(device)
}

/// Writes blocks with rising numbers, neighbours together.
pub(super) fn write_blocks<D: Device>(device: &mut D, blocks: &[FinishedBlock]) -> Result<(), D::Error> {
    for run in blocks.chunk_by(|a, b| a.number.checked_add(1) == Some(b.number)) {
        let mut bytes = Vec::with_capacity(run.len() * BLOCK_LEN);
        run.iter().for_each(|block| bytes.extend_from_slice(&block.bytes[..]));
        if let Some(first) = run.first() {
            device.write(first.number, &bytes)?;
        }
    }
    Ok(())
}
