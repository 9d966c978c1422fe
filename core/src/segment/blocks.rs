//! Blocks that may be at hand: how readers without I/O are fed.
//!
//! A reader is asked again from its begin once the blocks that it needed have been supplied. What is at hand
//! is not trusted: every use verifies it.

use crate::block::Block;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

/// Some blocks of one segment.
pub trait Blocks {
    /// The bytes of block `number`, where they are at hand.
    fn block(&self, number: u32) -> Option<&Block>;
}

/// An answer, or the blocks without which there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// The answer.
    Ready(T),
    /// Blocks to supply before the question is asked again; not empty.
    Need(Vec<Range<u32>>),
}

/// Blocks in memory.
#[derive(Clone, Debug, Default)]
pub struct BlockMap {
    blocks: BTreeMap<u32, Box<Block>>,
}

impl BlockMap {
    /// No blocks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts the whole blocks that `bytes` begin with, the first as `first`; what is cut short is left out.
    pub fn insert(&mut self, first: u32, bytes: &[u8]) {
        let (blocks, _) = bytes.as_chunks();
        for (number, block) in (first..).zip(blocks) {
            self.blocks.insert(number, Box::new(*block));
        }
    }

    /// Puts one block.
    pub fn put(&mut self, number: u32, block: Box<Block>) {
        self.blocks.insert(number, block);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Forgets all blocks.
    pub fn clear(&mut self) {
        self.blocks.clear();
    }
}

impl Blocks for BlockMap {
    fn block(&self, number: u32) -> Option<&Block> {
        self.blocks.get(&number).map(|block| &**block)
    }
}
