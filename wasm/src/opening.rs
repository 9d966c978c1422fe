//! The job that opens a segment: by its two ends, or block by block where it was never sealed.

use siltstone_core::block::{BLOCK_LEN, SegmentId};
use siltstone_core::segment::{
    Answer, BlockMap, Blocks, Scan, ScanStep, Scanned, Sealed, SegmentError, SegmentHeader,
};

use crate::fault::Fault;

/// A segment that was opened.
pub(crate) enum Opened {
    /// With a footer; `blocks` are those that opening took.
    Sealed { sealed: Box<Sealed>, blocks: BlockMap },
    /// Without one, scanned from end to end.
    Scanned(Box<Scanned>),
}

impl Opened {
    /// Which segment it is.
    pub(crate) fn id(&self) -> SegmentId {
        match self {
            Self::Sealed { sealed, .. } => sealed.header().id,
            Self::Scanned(scanned) => scanned.header.id,
        }
    }

    /// What is wrong with it, though it opened; the end of a sentence.
    pub(crate) fn warning(&self) -> Option<String> {
        match self {
            Self::Sealed { sealed, .. } => sealed.header_fault().map(|fault| {
                format!("its first block is damaged ({fault}); the copy at its end is used")
            }),
            Self::Scanned(scanned) => Some(match scanned.faults.len() {
                0 => "it was never sealed, so all of it was read; what its writer still held in memory is not in it"
                    .to_owned(),
                damaged => format!("it was never sealed, and {damaged} of its blocks are damaged and left out"),
            }),
        }
    }
}

/// Opening one segment.
#[derive(Debug)]
pub(crate) struct Opening {
    /// The device, and so the number of the segment.
    pub(crate) device: u32,
    block_count: u32,
    /// Whether a segment without a footer is read from end to end.
    may_scan: bool,
    blocks: BlockMap,
    scan: Option<Box<Scan>>,
    next_block: u32,
}

/// What a step of opening led to.
pub(crate) enum OpeningStep {
    /// Blocks to feed: first and count.
    Need(Vec<(u32, u32)>),
    /// It is open.
    Open(Opened),
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
        Ok(Self { device, block_count, may_scan, blocks: BlockMap::new(), scan: None, next_block: 1 })
    }

    /// Takes blocks, the first as `block`.
    pub(crate) fn feed(&mut self, block: u32, bytes: &[u8]) {
        self.blocks.insert(block, bytes);
    }

    /// Goes on.
    pub(crate) fn step(&mut self, budget_blocks: u32) -> Result<OpeningStep, Fault> {
        if self.scan.is_some() {
            return self.scan_on(budget_blocks);
        }
        match Sealed::open(self.block_count, &self.blocks) {
            Ok(Answer::Need(need)) => {
                let spans = need.iter().map(|range| (range.start, range.end.saturating_sub(range.start)));
                Ok(OpeningStep::Need(spans.collect()))
            }
            Ok(Answer::Ready(sealed)) => {
                let blocks = std::mem::take(&mut self.blocks);
                Ok(OpeningStep::Open(Opened::Sealed { sealed: Box::new(sealed), blocks }))
            }
            Err(SegmentError::Unsealed) if self.may_scan => {
                let first = self.blocks.block(0).ok_or(SegmentError::Truncated)?;
                let header = SegmentHeader::open(first)?;
                self.scan = Some(Box::new(Scan::new(header, false)));
                self.scan_on(budget_blocks)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Pushes what is at hand and asks for the blocks behind it.
    fn scan_on(&mut self, budget_blocks: u32) -> Result<OpeningStep, Fault> {
        let Some(scan) = &mut self.scan else { return Err(Fault::internal("a scan that never began")) };
        while self.next_block < self.block_count {
            let Some(bytes) = self.blocks.block(self.next_block) else {
                let count = budget_blocks.max(1).min(self.block_count.saturating_sub(self.next_block));
                self.blocks.clear();
                return Ok(OpeningStep::Need(vec![(self.next_block, count)]));
            };
            if scan.push(bytes) == ScanStep::End {
                break;
            }
            self.next_block = self.next_block.saturating_add(1);
        }
        let Some(scan) = self.scan.take() else { return Err(Fault::internal("a scan that never began")) };
        self.blocks.clear();
        let scanned = Box::new(scan.finish());
        Ok(OpeningStep::Open(Opened::Scanned(scanned)))
    }
}
