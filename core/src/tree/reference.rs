//! A reference: where a chunk or an inner node is, and the summary of what lies below it.

use super::summary::Summary;

/// Numbers from here on are virtual: blocks of open nodes and tails, handed in by a live store.
pub const VIRTUAL_BLOCK_MIN: u32 = 1 << 31;

/// Where something is and what is in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// Series index inside the segment.
    pub series: u32,
    /// Block number.
    pub block: u32,
    /// Position in a leaf's directory; 0 for an inner node.
    pub slot: u16,
    /// 0: a chunk in a leaf; L: an inner node of level L.
    pub level: u8,
    /// Summary of all rows below.
    pub summary: Summary,
}
