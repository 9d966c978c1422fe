//! What can be wrong with a segment, and where.

use crate::block::{BlockError, BlockKind};
use crate::codec::CodecError;
use crate::segment::SegmentError;

/// One thing that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The block it is in, where it is in one.
    pub block: Option<u32>,
    /// What it is.
    pub what: What,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// The medium does not give the block.
    Unreadable,
    /// It is no valid block of this segment at this place.
    Block(BlockError),
    /// It was written in an earlier epoch than the block before it.
    Stale,
    /// No block of this kind belongs here.
    Kind(BlockKind),
    /// Nothing but zeros, though blocks behind it were written.
    Hole,
    /// Its payload does not parse.
    Payload(&'static str),
    /// A chunk of a leaf does not decode.
    Codec {
        /// Position in the leaf's directory.
        slot: u16,
        /// Why.
        error: CodecError,
    },
    /// A chunk of a leaf contradicts something else.
    Chunk {
        /// Position in the leaf's directory.
        slot: u16,
        /// In what.
        what: &'static str,
    },
    /// A reference's summary is not that of what is below it.
    Summary {
        /// Series index.
        series: u32,
        /// 0 for a chunk, else the level of the node that is named.
        level: u8,
    },
    /// What a series says in one place is not what it says in another.
    Series {
        /// Series index.
        series: u32,
        /// In what.
        what: &'static str,
    },
    /// A count that is stated is not what was counted.
    Count {
        /// Of what.
        what: &'static str,
        /// What is stated.
        stated: u64,
        /// What was counted.
        counted: u64,
    },
    /// Header, footer or a section is not what it should be.
    Segment(SegmentError),
    /// The file ends inside a block.
    Cut,
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // The words of these name their block themselves.
        if let What::Segment(error) = self.what {
            return write!(f, "{error}");
        }
        if let Some(block) = self.block {
            write!(f, "block {block}: ")?;
        }
        match self.what {
            What::Unreadable => write!(f, "the medium does not give it"),
            What::Block(error) => write!(f, "{error}"),
            What::Stale => write!(f, "written before the block in front of it: a stale block"),
            What::Kind(kind) => write!(f, "a {} block has no place here", kind.name()),
            What::Hole => write!(f, "never written, though blocks behind it were"),
            What::Payload(what) => write!(f, "no valid {what}"),
            What::Codec { slot, error } => write!(f, "chunk {slot}: {error}"),
            What::Chunk { slot, what } => write!(f, "chunk {slot}: {what}"),
            What::Summary { series, level: 0 } => {
                write!(f, "series {series}: the summary of a chunk is not that of its readings")
            }
            What::Summary { series, level } => {
                write!(
                    f,
                    "series {series}: the summary of a node of level {level} is not that of what is below"
                )
            }
            What::Series { series, what } => write!(f, "series {series}: {what}"),
            What::Count { what, stated, counted } => {
                write!(f, "{what}: {stated} are stated, {counted} were counted")
            }
            What::Segment(error) => write!(f, "{error}"),
            What::Cut => write!(f, "the file ends inside it: it was cut"),
        }
    }
}
