//! A block that small inner nodes share, one behind the other: with thousands of series in a segment each has a
//! few dozen chunks, whose node would fill a quarter of a block of its own.
//!
//! The number of the block is not known here.

use crate::block::{BLOCK_LEN, Block, HEADER_LEN};
use alloc::boxed::Box;

/// A block of nodes in the making.
pub(super) struct SharedNodes {
    /// The block, its header still to be sealed.
    pub block: Box<Block>,
    /// Bytes of the payload.
    pub payload_len: u16,
}

impl Default for SharedNodes {
    fn default() -> Self {
        Self { block: Box::new([0; BLOCK_LEN]), payload_len: 0 }
    }
}

impl SharedNodes {
    /// Puts a node's payload behind the others; gives its slot, or `None` where it does not fit.
    pub(super) fn put(&mut self, payload: &[u8]) -> Option<u16> {
        let slot = self.payload_len;
        let begin = HEADER_LEN + usize::from(slot);
        self.block.get_mut(begin..begin + payload.len())?.copy_from_slice(payload);
        // What fits a block has fewer than 65,536 bytes.
        self.payload_len += payload.len() as u16;
        Some(slot)
    }

    /// Takes the block, if there is something in it, and begins another.
    pub(super) fn take(&mut self) -> Option<Self> {
        (self.payload_len > 0).then(|| core::mem::take(self))
    }
}
