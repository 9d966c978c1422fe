//! What could not be read: it costs its own points, is reported, and flags the answer.

use alloc::vec::Vec;
use core::fmt;

use super::runs::SegmentHandle;
use crate::block::BlockError;
use crate::codec::CodecError;
use crate::tree::TableError;
use crate::tree::leaf::LeafError;

/// Blocks could not be fetched; whoever fetches them knows why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// Why a block gave nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Damage {
    /// Whoever fetches blocks could not get it.
    Unreadable,
    /// It is not the block that was asked for.
    Block(BlockError),
    /// It is a block of another kind than its reference says.
    Kind,
    /// Its directory of chunks is damaged.
    Leaf(LeafError),
    /// Its references are damaged.
    Node(TableError),
    /// A chunk in it is damaged.
    Chunk(CodecError),
    /// It does not hold what its reference says.
    Inconsistent,
}

impl fmt::Display for Damage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => out.write_str("could not be fetched"),
            Self::Block(error) => error.fmt(out),
            Self::Kind => out.write_str("a block of another kind than its reference says"),
            Self::Leaf(error) => error.fmt(out),
            Self::Node(error) => error.fmt(out),
            Self::Chunk(error) => error.fmt(out),
            Self::Inconsistent => out.write_str("does not hold what its reference says"),
        }
    }
}

/// A block that gave nothing, and whose points are missing in the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warning {
    /// The segment.
    pub segment: SegmentHandle,
    /// The block.
    pub block: u32,
    /// Why.
    pub damage: Damage,
}

/// What an answer read of one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentReads {
    /// Blocks that were fed.
    pub blocks: u64,
    /// Points decoded.
    pub decoded: u64,
    /// Those of them that the answer would have had without decoding, or at all, if the partition were one segment: deleted
    /// or written over, or in chunks of which the summary would have been enough.
    pub wasted: u64,
}

/// What an answer cost, and what is missing in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Blocks that were fed, those between wanted ones included.
    pub blocks_read: u64,
    /// Their bytes.
    pub bytes_read: u64,
    /// Blocks of the segments asked.
    pub blocks_total: u64,
    /// Points decoded.
    pub points_decoded: u64,
    /// Subtrees of which the summary was enough.
    pub subtrees_used: u64,
    /// What was read of each segment, by handle.
    pub reads: Vec<SegmentReads>,
    /// Whether points could not be read, so that the answer lacks them.
    pub is_partial: bool,
    /// What could not be read: the first [`WARNINGS_MAX`] of it.
    pub warnings: Vec<Warning>,
}

/// Warnings kept.
pub const WARNINGS_MAX: usize = 100;

impl Statistics {
    /// Adds to what was read of a segment.
    pub(super) fn note_read(&mut self, segment: SegmentHandle, more: SegmentReads) {
        if let Some(reads) = self.reads.get_mut(segment.0 as usize) {
            reads.blocks = reads.blocks.saturating_add(more.blocks);
            reads.decoded = reads.decoded.saturating_add(more.decoded);
            reads.wasted = reads.wasted.saturating_add(more.wasted);
        }
    }

    pub(super) fn warn(&mut self, warning: Warning) {
        self.is_partial = true;
        if self.warnings.len() < WARNINGS_MAX && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}
