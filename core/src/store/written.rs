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

    /// What the last checkpoint of a store says; `None` where there is none. Reads only, and needs no lock.
    ///
    /// # Errors
    /// What the medium says.
    pub fn of_store<M: Medium>(medium: &M) -> Result<Option<Self>, M::Error> {
        let Some(device) = journal::stated(medium)?.device else { return Ok(None) };
        let found = Found::find(medium, &device)?;
        Ok(found.checkpoint().map(|(_, checkpoint)| checkpoint.written))
    }

    pub(super) fn from_counts(counts: [u64; CAUSES]) -> Self {
        let [journal, leaves, nodes, tails, merges] = counts;
        Self { journal, leaves, nodes, tails, merges }
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
