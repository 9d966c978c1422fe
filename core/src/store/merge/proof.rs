//! The end of a merge, in steps: the result is sealed, written, flushed, read back, and asked where its series end.
//!
//! Nothing of it counts yet, so whatever fails here costs the merge and nothing else. What was read back as it was
//! written, behind a flush, may take the place of its inputs.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::input::Damaged;
use super::job::{Merge, Progress};
use crate::block::{BLOCK_LEN, open};
use crate::segment::{BlockMap, FinishedBlock, Sealed};
use crate::store::device::Device;
use crate::store::open_segment::read_back;
use crate::store::segment_file::{LastTime, SegmentState, ask, last_time};

/// Blocks that are written, or read back, in one step.
const STEP_BLOCKS: u32 = 64;
/// Series of which the end is looked up in one step.
const STEP_SERIES: u32 = 256;

/// How far the end of a merge is.
#[derive(Debug)]
pub(super) enum Stage {
    /// Nodes and tail that are not written yet.
    Writing(Vec<FinishedBlock>),
    /// Everything below this block was read back.
    Reading(u32),
    /// Below this position of its catalog it is known where the series of the result end.
    Listing(Box<Sealed>, u32, Vec<LastTime>),
}

/// A result that was read back.
#[derive(Debug)]
pub(in crate::store) struct Proven {
    /// What its footer says.
    pub(in crate::store) sealed: Box<Sealed>,
    /// Where its series end, of one that is in order.
    pub(in crate::store) last_times: Vec<LastTime>,
}

impl<D: Device> Merge<D> {
    /// Does a step of the end of the merge.
    pub(super) fn end_step(&mut self, stage: Stage) -> Progress {
        match self.next_stage(stage) {
            Ok(Next::Stage(stage)) => {
                self.stage = Some(stage);
                Progress::More
            }
            Ok(Next::Proven(proven)) => Progress::Proven(proven),
            Err(Damaged) => Progress::Impossible,
        }
    }

    /// Seals the result; nothing of that is written yet.
    pub(super) fn seal(&mut self) -> Result<Stage, Damaged> {
        self.carry();
        self.writer.seal().map_err(|_| Damaged)?;
        let blocks = self.writer.take_blocks();
        if self.has_room(&blocks) { Ok(Stage::Writing(blocks)) } else { Err(Damaged) }
    }

    fn next_stage(&mut self, stage: Stage) -> Result<Next, Damaged> {
        let next = match stage {
            Stage::Writing(mut blocks) => {
                let behind = blocks.split_off(blocks.len().min(STEP_BLOCKS as usize));
                self.write(&blocks).map_err(|_| Damaged)?;
                if behind.is_empty() {
                    self.device.flush().map_err(|_| Damaged)?;
                    Stage::Reading(0)
                } else {
                    Stage::Writing(behind)
                }
            }
            Stage::Reading(first) if first < self.writer.block_count() => {
                let count = STEP_BLOCKS.min(self.writer.block_count() - first);
                let mut bytes = vec![0; count as usize * BLOCK_LEN];
                self.device.read(first, &mut bytes).map_err(|_| Damaged)?;
                let id = self.writer.header().id;
                for (number, block) in (first..).zip(bytes.chunks_exact(BLOCK_LEN)) {
                    open(block, &id, number).map_err(|_| Damaged)?;
                }
                Stage::Reading(first + count)
            }
            Stage::Reading(end) => match read_back(&self.device, end) {
                Ok(SegmentState::Sealed(sealed)) => Stage::Listing(sealed, 0, Vec::new()),
                _ => return Err(Damaged),
            },
            Stage::Listing(sealed, first, mut last_times) => {
                if !self.is_in_order() || first >= self.writer.series_count() {
                    return Ok(Next::Proven(Box::new(Proven { sealed, last_times })));
                }
                let positions = first..first.saturating_add(STEP_SERIES);
                let page = |blocks: &BlockMap| sealed.page(blocks, positions.clone());
                let page = ask(&self.device, &mut BlockMap::new(), page).map_err(|_| Damaged)?;
                last_times.extend(page.map_err(|_| Damaged)?.into_iter().filter_map(last_time));
                Stage::Listing(sealed, positions.end, last_times)
            }
        };
        Ok(Next::Stage(next))
    }
}

enum Next {
    Stage(Stage),
    Proven(Box<Proven>),
}
