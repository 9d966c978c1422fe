//! What can be wrong with a segment, and with a request to its writer.

use crate::block::BlockError;
use crate::point::TimeRange;

/// Why bytes are no segment, or not this part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SegmentError {
    /// Bytes 32-39 are not a segment's magic: another kind of file.
    NotASegment,
    /// A format version that this reader doesn't know.
    FutureVersion(u16),
    /// A block size other than 4096 bytes: the stored logarithm.
    BlockSize(u8),
    /// Fewer than one whole block, or no whole number of blocks.
    Truncated,
    /// The segment was never sealed: it has no footer.
    Unsealed,
    /// A block is not what it should be.
    Block {
        /// The block.
        block: u32,
        /// What is wrong with it.
        error: BlockError,
    },
    /// A block's payload doesn't parse.
    Payload {
        /// The block.
        block: u32,
        /// What it should have been.
        what: &'static str,
    },
    /// A part of the tail doesn't parse.
    Tail(&'static str),
}

impl core::fmt::Display for SegmentError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotASegment => write!(f, "not a Siltstone segment"),
            Self::FutureVersion(version) => {
                write!(f, "format version {version} is newer than this reader, which knows version 0")
            }
            Self::BlockSize(log2) => write!(f, "blocks of 2^{log2} bytes; this reader knows 4096"),
            Self::Truncated => write!(f, "cut short: no whole number of 4096-byte blocks"),
            Self::Unsealed => write!(f, "not sealed: no footer"),
            Self::Block { block, error } => write!(f, "block {block}: {error}"),
            Self::Payload { block, what } => write!(f, "block {block}: no valid {what}"),
            Self::Tail(what) => write!(f, "tail: {what}"),
        }
    }
}

impl core::error::Error for SegmentError {}

/// Why a writer doesn't take something. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AppendError {
    /// Not after the rows of its series that are coded already: it belongs into a late segment.
    Late,
    /// Outside of the segment's partition.
    OutsidePartition(TimeRange),
    /// No such series.
    UnknownSeries,
    /// A state text of more than 255 bytes.
    StateTooLong,
    /// The segment has as many blocks as it may have.
    Full,
    /// The segment is sealed.
    Sealed,
}

impl core::fmt::Display for AppendError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Late => write!(f, "the point is not after the coded rows of its series"),
            Self::OutsidePartition(range) => {
                write!(f, "the point is outside of the partition [{}, {})", range.begin, range.end)
            }
            Self::UnknownSeries => write!(f, "no such series in this segment"),
            Self::StateTooLong => write!(f, "a state of more than {} bytes", super::STATE_LEN_MAX),
            Self::Full => write!(f, "the segment is full"),
            Self::Sealed => write!(f, "the segment is sealed"),
        }
    }
}

impl core::error::Error for AppendError {}
