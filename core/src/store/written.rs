//! Blocks written to the medium, by cause: what wears a card out.
//!
//! Counted where blocks are written, kept in the checkpoints, so that the count outlives a restart; what was
//! written between the last checkpoint and a power cut is not in it. What a file system writes besides is
//! not known here.

use super::device::Medium;
use super::journal::{self, Found};
use crate::block::{BLOCK_LEN, BlockKind};
use crate::segment::FinishedBlock;

/// Causes, in the order in which a checkpoint names them.
pub(super) const CAUSES: usize = 5;

/// What was written in a span of trusted time: from the first checkpoint that knew the time to the last one, whether the
/// store was open in between or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meter {
    /// The time of the first one.
    pub begin_ns: i64,
    /// Blocks that were written until then.
    pub begin_blocks: u64,
    /// The time of the last one.
    pub end_ns: i64,
    /// Blocks that were written until then.
    pub end_blocks: u64,
}

impl Meter {
    /// The meter after a checkpoint at the time `now_ns`. Where the time went back behind its begin it begins anew.
    pub(super) fn after(known: Option<Self>, now_ns: i64, blocks: u64) -> Self {
        let (begin_ns, begin_blocks) = known
            .filter(|known| known.begin_ns <= now_ns)
            .map_or((now_ns, blocks), |known| (known.begin_ns, known.begin_blocks));
        Self { begin_ns, begin_blocks, end_ns: now_ns, end_blocks: blocks }
    }

    /// How long that was.
    pub fn span_ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.begin_ns).max(0)
    }

    /// Bytes that were written in it.
    pub fn bytes(&self) -> u64 {
        self.end_blocks.saturating_sub(self.begin_blocks).saturating_mul(BLOCK_LEN as u64)
    }
}

/// Blocks written since the store was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Of the journal, its first zeros included.
    pub journal: u64,
    /// Leaves, with headers, definitions and reference logs.
    pub leaves: u64,
    /// Inner nodes.
    pub nodes: u64,
    /// Tails.
    pub tails: u64,
    /// All blocks that merges wrote.
    pub merges: u64,
}

impl Written {
    /// Every cause and its name.
    pub fn by_cause(&self) -> [(&'static str, u64); CAUSES] {
        [
            ("journal", self.journal),
            ("leaves", self.leaves),
            ("nodes", self.nodes),
            ("tails", self.tails),
            ("merges", self.merges),
        ]
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.by_cause().iter().fold(0, |sum, (_, blocks)| sum.saturating_add(*blocks))
    }

    /// Bytes of all of them.
    pub fn total_bytes(&self) -> u64 {
        self.total().saturating_mul(BLOCK_LEN as u64)
    }

    /// What the last checkpoint of a store says, and over which time; `None` where there is none. Reads only, and needs no
    /// lock.
    ///
    /// # Errors
    /// What the medium says.
    pub fn of_store<M: Medium>(medium: &M) -> Result<Option<(Self, Option<Meter>)>, M::Error> {
        let Some(device) = journal::stated(medium)?.device else { return Ok(None) };
        let found = Found::find(medium, &device)?;
        Ok(found.checkpoint().map(|(_, checkpoint)| (checkpoint.written, checkpoint.meter)))
    }

    /// Notes blocks of a segment that is no merge's result.
    pub(super) fn note(&mut self, blocks: &[FinishedBlock]) {
        blocks.iter().for_each(|block| self.note_block(&block.bytes[..]));
    }

    /// Notes a block of such a segment by the kind in its first byte.
    pub(super) fn note_block(&mut self, bytes: &[u8]) {
        match bytes.first().copied().and_then(BlockKind::from_code) {
            Some(BlockKind::Node) => self.nodes += 1,
            Some(BlockKind::Tail) => self.tails += 1,
            _ => self.leaves += 1,
        }
    }
}
