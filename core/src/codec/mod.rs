//! Codecs: rows of one series to a chunk of bytes, and back to the same bits.
//!
//! Sits between the series (whose rows come here) and the blocks (which hold chunks). A chunk is
//! self-contained: its two codec bytes, and the count and first timestamp from its leaf's directory, are
//! all that decoding needs. The format is `docs/format-codecs.md`, which this room follows.
//!
//! Encoding and decoding need no heap: output and scratch memory are the caller's. Encoders trust their
//! caller's slices to be rows and check what they need; decoders trust nothing. No checksum is here:
//! blocks have one. Order and uniqueness of timestamps are the tree's matter.
//!
//! | file | idea |
//! | --- | --- |
//! | `rows` | the columns of a chunk, and scratch memory |
//! | `plan` | plans, codec bytes |
//! | `choose`, `choose_floats` | a plan by trial |
//! | `encode`, `fit`, `prefix` | rows to bytes, rows to a capacity |
//! | `decode`, `chunk` | bytes to slices, bytes to vectors |
//! | `timestamps`, `gaps`, `runs` | the columns beside the values |
//! | `floats`, `floats_read`, `integers`, `booleans`, `states` | the columns of values |
//! | `grid`, `rational`, `dictionary`, `dfcm` | floats as integers, and those that are none |
//! | `divisor`, `predict`, `numbers` | integers as residuals |
//! | `blocks`, `bitpack`, `varint`, `bytes` | residuals as bits, bytes as cursors |
//! | `limits`, `error` | what is too much, what is wrong |

mod blocks;
mod booleans;
mod choose;
mod choose_floats;
#[cfg(feature = "alloc")]
mod chunk;
mod decode;
mod dfcm;
mod dictionary;
mod divisor;
mod encode;
mod error;
mod fit;
mod floats;
mod floats_read;
mod gaps;
mod grid;
mod integers;
mod limits;
mod numbers;
mod plan;
mod predict;
mod prefix;
mod rational;
mod rows;
mod runs;
mod states;
mod timestamps;

pub mod bitpack;
pub mod bytes;
pub mod varint;

#[cfg(test)]
mod tests;

pub use choose::choose;
#[cfg(feature = "alloc")]
pub use chunk::{Chunk, Description, OwnedValues, ScratchBuffer, decode, describe};
pub use decode::{Decoded, RowsMut, ValuesMut, decode_into};
pub use encode::{Encoded, encode, measure};
pub use error::{CodecError, Defect, EncodeError};
pub use fit::fit;
pub use grid::{DECIMALS_MAX, INTEGER_MAX, decimals_of, from_decimal, to_decimal};
pub use limits::{ROWS_MAX, TEXTS_MAX};
pub use plan::{Codec, Entries, Model, Plan, TimestampPlan, ValuePlan};
pub use predict::Predictor;
pub use rational::{Rational, Rounding};
pub use rows::{Rows, SCRATCH_INTEGERS, Scratch, Values};
pub use states::Texts;
