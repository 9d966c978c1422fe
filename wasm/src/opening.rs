//! The job that opens a segment: by its two ends, or block by block where it was never sealed.

use siltstone_core::block::BLOCK_LEN;
use siltstone_core::segment::{self, Answer, Opened, SegmentError};

use crate::fault::Fault;

/// Opening one segment.
#[derive(Debug)]
pub(crate) struct Opening {
    /// The device, and so the number of the segment.
    pub(crate) device: u32,
    /// Whether a segment without a footer is read from end to end.
    may_scan: bool,
    opening: segment::Opening,
}

impl Opening {
    /// Begins with a device of `size_bytes`.
    pub(crate) fn new(device: u32, size_bytes: f64, may_scan: bool) -> Result<Self, Fault> {
        let block_bytes = BLOCK_LEN as f64;
        let blocks = (size_bytes / block_bytes).floor();
        if !(1.0..f64::from(u32::MAX)).contains(&blocks) {
            return Err(SegmentError::Truncated.into());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
        let block_count = blocks as u32;
        Ok(Self { device, may_scan, opening: segment::Opening::new(block_count) })
    }

    /// Takes blocks, the first as `block`.
    pub(crate) fn feed(&mut self, block: u32, bytes: &[u8]) {
        self.opening.feed(block, bytes);
    }

    /// Goes on.
    pub(crate) fn step(&mut self, budget_blocks: u32) -> Result<Answer<Opened>, Fault> {
        let step = match self.opening.step(budget_blocks) {
            Err(SegmentError::Unsealed) if self.may_scan => {
                self.opening.scan();
                self.opening.step(budget_blocks)
            }
            step => step,
        };
        Ok(step?)
    }
}
