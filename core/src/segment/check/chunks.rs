//! Chunks that were decoded and are still to be compared with what names them: a window over the file.

use super::facts::Facts;
use alloc::vec::Vec;

/// Chunks that are kept at a time, some 180 bytes each.
pub const CHUNKS_MAX: usize = 16_384;

/// One chunk of a leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownChunk {
    pub block: u32,
    pub slot: u16,
    pub series: u32,
    /// `None` where it is damaged, which was said already.
    pub facts: Option<Facts>,
    pub is_named: bool,
}

/// The chunks of the blocks from `first_block` on, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Window {
    pub first_block: u32,
    chunks: Vec<KnownChunk>,
    /// Blocks whose chunks are not known because they are damaged.
    pub lost: Vec<u32>,
}

impl Window {
    pub(super) fn is_full(&self) -> bool {
        self.chunks.len() >= CHUNKS_MAX || self.lost.len() >= CHUNKS_MAX
    }

    pub(super) fn push(&mut self, chunk: KnownChunk) {
        self.chunks.push(chunk);
    }

    pub(super) fn find(&mut self, block: u32, slot: u16) -> Option<&mut KnownChunk> {
        let place =
            self.chunks.binary_search_by_key(&(block, slot), |chunk| (chunk.block, chunk.slot)).ok()?;
        self.chunks.get_mut(place)
    }

    /// Whether a damaged block explains that nothing is known of a chunk.
    pub(super) fn is_lost(&self, block: u32) -> bool {
        self.lost.binary_search(&block).is_ok()
    }

    /// The first chunk that nothing named, from position `from` on, and the position behind it.
    pub(super) fn unnamed(&self, from: usize) -> Option<(usize, KnownChunk)> {
        let rest = self.chunks.iter().enumerate().skip(from);
        rest.filter(|(_, chunk)| !chunk.is_named && chunk.facts.is_some())
            .map(|(at, chunk)| (at.saturating_add(1), *chunk))
            .next()
    }

    /// Forgets everything; the window goes on at `block`.
    pub(super) fn restart(&mut self, block: u32) {
        self.first_block = block;
        self.chunks.clear();
        self.lost.clear();
    }

    /// Forgets the older half: what a log still names is in the newer one.
    pub(super) fn forget_half(&mut self) {
        self.chunks.drain(..self.chunks.len() / 2);
        self.first_block =
            self.chunks.first().map_or(self.first_block, |chunk| chunk.block.saturating_add(1));
        let first = self.first_block;
        self.lost.retain(|block| *block >= first);
    }
}
