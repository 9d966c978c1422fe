//! What can be wrong with rows to be coded, and with bytes to be decoded.
//!
//! Both are values without a heap that can be matched on; their text is one sentence.

use core::fmt;

/// Why rows were not encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// The output is too small.
    Full {
        /// The exact length of the encoded chunk.
        needed_bytes: usize,
    },
    /// A chunk has at least one row.
    Empty,
    /// More rows than a chunk can count.
    TooManyRows {
        /// How many there are.
        rows: usize,
    },
    /// Timestamps and values are not of one length.
    Uneven {
        /// How many timestamps there are.
        timestamps: usize,
        /// How many values there are.
        values: usize,
    },
    /// The gaps are not strictly ascending row numbers of this chunk.
    Gaps,
    /// A state code names no text.
    StateCode {
        /// The row that holds it.
        row: usize,
    },
    /// The scratch memory has fewer slots than there are rows (or state texts).
    Scratch {
        /// The slots that each part must have.
        needed: usize,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { needed_bytes } => write!(out, "the chunk needs {needed_bytes} bytes of output"),
            Self::Empty => write!(out, "a chunk needs at least one row"),
            Self::TooManyRows { rows } => write!(out, "{rows} rows are more than a chunk holds"),
            Self::Uneven { timestamps, values } => {
                write!(out, "there are {timestamps} timestamps but {values} values")
            }
            Self::Gaps => write!(out, "the gaps are not ascending row numbers of the chunk"),
            Self::StateCode { row } => write!(out, "the state code of row {row} names no text"),
            Self::Scratch { needed } => write!(out, "the scratch memory needs {needed} slots in each part"),
        }
    }
}

impl core::error::Error for EncodeError {}

/// What is wrong inside a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Defect {
    /// A variable-length number has more than 64 bits.
    Varint,
    /// A reserved bit is set, or a field that this codec does not use is not zero.
    Reserved,
    /// A count of zero rows, or a count that is larger than the chunk.
    Count,
    /// Row numbers that are not ascending or not of this chunk.
    Row,
    /// A mini-block header that is not defined, or that describes more than the rows left.
    MiniBlock,
    /// A number of decimals, a multiplier or a rounding out of its range.
    Grid,
    /// A common divisor or time unit of zero, or a remainder not below it.
    Divisor,
    /// Run lengths that don't add up to the count of rows.
    Runs,
    /// A code beyond the dictionary.
    Code,
    /// A state text that is not UTF-8.
    Text,
    /// A value that is neither true nor false.
    Boolean,
}

impl Defect {
    /// The reason in words.
    const fn reason(self) -> &'static str {
        match self {
            Self::Varint => "a variable-length number has more than 64 bits",
            Self::Reserved => "a reserved bit is set",
            Self::Count => "a count is zero or larger than the chunk",
            Self::Row => "row numbers are not ascending or not of this chunk",
            Self::MiniBlock => "a mini-block header is not defined or describes too many rows",
            Self::Grid => "a number grid is out of its range",
            Self::Divisor => "a common divisor is zero or not above its remainder",
            Self::Runs => "run lengths don't add up to the count of rows",
            Self::Code => "a code is beyond the dictionary",
            Self::Text => "a state text is not UTF-8",
            Self::Boolean => "a boolean is neither 0 nor 1",
        }
    }
}

/// Why bytes were not decoded. Each costs the chunk it was found in and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodecError {
    /// The bytes end inside the chunk.
    Truncated {
        /// Where they end.
        at: usize,
    },
    /// Bytes follow the last value.
    Trailing {
        /// The first of them.
        at: usize,
    },
    /// A value codec that this version does not know.
    UnknownCodec {
        /// The codec byte.
        byte: u8,
    },
    /// A timestamp codec or coder that this version does not know.
    UnknownColumns {
        /// The columns byte.
        byte: u8,
    },
    /// The bytes contradict themselves.
    Invalid {
        /// The byte where it shows.
        at: usize,
        /// What it is.
        defect: Defect,
    },
    /// The caller's memory has fewer slots than the chunk has rows.
    Memory {
        /// The slots that each part must have.
        needed: usize,
    },
}

impl fmt::Display for CodecError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { at } => write!(out, "the chunk is cut off at byte {at}"),
            Self::Trailing { at } => write!(out, "unexpected bytes follow the last value at byte {at}"),
            Self::UnknownCodec { byte } => write!(out, "value codec {byte:#04x} at byte 0 is not known"),
            Self::UnknownColumns { byte } => {
                write!(out, "timestamp codec or coder {byte:#04x} at byte 1 is not known")
            }
            Self::Invalid { at, defect } => write!(out, "{} at byte {at}", defect.reason()),
            Self::Memory { needed } => write!(out, "the output needs {needed} slots in each part"),
        }
    }
}

impl core::error::Error for CodecError {}
