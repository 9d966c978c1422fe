//! Sealing a segment in small steps: flush, inner nodes and tail in pieces, the footer last.
//!
//! The order of the flushes is what makes a footer prove everything before it; `docs/recovery.md`. Where the
//! medium fails, the segment stays what its points are read from.

use super::device::{Device, Medium};
use super::error::StoreError;
use super::open_segment::{OpenSegment, read_back, write_blocks};
use super::running::Store;
use super::segment_file::{SegmentFile, SegmentState};
use super::written::Written;

/// Blocks of nodes and tail that are written in one step.
const STEP_BLOCKS: usize = 64;

impl<D: Device> OpenSegment<D> {
    /// Does one step of sealing; gives the file as it is then after the last one. Where its catalog is beyond all
    /// limits it stays unsealed, which loses nothing.
    pub(super) fn seal_step(&mut self, written: &mut Written) -> Result<Option<SegmentFile>, D::Error> {
        if !self.writer.is_sealed() {
            self.flush(written)?;
            if self.writer.seal().is_err() {
                let (file_blocks, state) = (self.file_blocks(), SegmentState::Unsealed);
                return Ok(Some(SegmentFile { file_blocks, state, ..self.file.clone() }));
            }
            self.unwritten.append(&mut self.writer.take_blocks());
            self.set_length(self.writer.block_count())?;
            return Ok(None);
        }
        let count = STEP_BLOCKS.min(self.unwritten.len().saturating_sub(1));
        let (piece, _) = self.unwritten.split_at(count);
        if count > 0 {
            write_blocks(&mut self.device, piece)?;
            written.note(piece);
            self.unwritten.drain(..count);
            return Ok(None);
        }
        self.device.flush()?;
        write_blocks(&mut self.device, &self.unwritten)?;
        written.note(&self.unwritten);
        self.device.flush()?;
        self.unwritten.clear();
        let block_count = self.writer.block_count();
        let state = read_back(&self.device, block_count)?;
        let (file_blocks, sealed_epoch) = (block_count, self.writer.write_epoch());
        Ok(Some(SegmentFile { block_count, file_blocks, state, sealed_epoch, ..self.file.clone() }))
    }

    /// Seals the segment: the file as it is then.
    pub(super) fn seal(&mut self, written: &mut Written) -> Result<SegmentFile, D::Error> {
        loop {
            if let Some(file) = self.seal_step(written)? {
                return Ok(file);
            }
        }
    }
}

impl<M: Medium> Store<M> {
    /// Does a step of sealing what is to be sealed; false where there is nothing.
    pub(super) fn sealing_step(&mut self) -> Result<bool, StoreError<M::Error>> {
        if let Some(segment) = &mut self.chores.sealing {
            if let Some(file) = segment.seal_step(&mut self.written)? {
                self.segments.push(file);
                self.chores.sealing = None;
            }
            return Ok(true);
        }
        let Some(place) = self.over() else { return Ok(false) };
        self.carry(place);
        self.chores.sealing = self.open.swap_remove(place).segment;
        Ok(true)
    }

    /// Ends a sealing that is under way.
    pub(super) fn finish_sealing(&mut self) -> Result<(), StoreError<M::Error>> {
        if let Some(segment) = &mut self.chores.sealing {
            self.segments.push(segment.seal(&mut self.written)?);
            self.chores.sealing = None;
        }
        Ok(())
    }
}
