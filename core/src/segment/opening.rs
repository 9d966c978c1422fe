//! Opening a segment that lies somewhere: by its two ends, or block by block where there is no footer.
//!
//! It says which blocks it needs and is fed them. Whether a file whose footer is missing or damaged is scanned,
//! which reads all of it, is for whoever opens it to say.

use super::blocks::{Answer, BlockMap, Blocks};
use super::error::SegmentError;
use super::header::SegmentHeader;
use super::opened::Opened;
use super::reader::Sealed;
use super::scan::{Scan, ScanStep};
use alloc::boxed::Box;
use core::iter::once;
use core::ops::Range;

/// A segment that is being opened.
#[derive(Debug)]
pub struct Opening {
    block_count: u32,
    is_scanned: bool,
    blocks: BlockMap,
    scan: Option<Box<Scan>>,
    /// The next block of the scan.
    next_block: u32,
}

impl Opening {
    /// Begins with a file of `block_count` blocks.
    pub fn new(block_count: u32) -> Self {
        Self { block_count, is_scanned: false, blocks: BlockMap::new(), scan: None, next_block: 1 }
    }

    /// From here on the file is read block by block, whatever its end says.
    pub fn scan(&mut self) {
        self.is_scanned = true;
    }

    /// Takes blocks, the first as `block`.
    pub fn feed(&mut self, block: u32, bytes: &[u8]) {
        self.blocks.insert(block, bytes);
    }

    /// Goes on; a scan asks for at most `budget_blocks` at a time.
    ///
    /// # Errors
    /// Why it can't be opened by its ends, or, where it is scanned, what is wrong with block 0.
    pub fn step(&mut self, budget_blocks: u32) -> Result<Answer<Opened>, SegmentError> {
        if self.is_scanned {
            return self.scan_on(budget_blocks);
        }
        Ok(match Sealed::open(self.block_count, &self.blocks)? {
            Answer::Need(need) => Answer::Need(need),
            Answer::Ready(sealed) => {
                let blocks = core::mem::take(&mut self.blocks);
                Answer::Ready(Opened::Sealed { sealed: Box::new(sealed), blocks })
            }
        })
    }

    /// Pushes what is at hand and asks for the blocks behind it.
    fn scan_on(&mut self, budget_blocks: u32) -> Result<Answer<Opened>, SegmentError> {
        let mut scan = match self.scan.take() {
            Some(scan) => scan,
            None => match self.blocks.block(0) {
                Some(first) => Box::new(Scan::new(SegmentHeader::open(first)?, false)),
                None => return Ok(need(0..1)),
            },
        };
        while self.next_block < self.block_count {
            let Some(bytes) = self.blocks.block(self.next_block) else {
                let end = self.next_block.saturating_add(budget_blocks.max(1)).min(self.block_count);
                self.blocks.clear();
                self.scan = Some(scan);
                return Ok(need(self.next_block..end));
            };
            if scan.push(bytes) == ScanStep::End {
                break;
            }
            self.next_block = self.next_block.saturating_add(1);
        }
        self.blocks.clear();
        Ok(Answer::Ready(Opened::Unsealed(Box::new(scan.finish().into()))))
    }
}

fn need<T>(blocks: Range<u32>) -> Answer<T> {
    Answer::Need(once(blocks).collect())
}
