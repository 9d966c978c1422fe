//! Decoding a chunk into slices, without a heap.
//!
//! Every length is checked against the count of rows, which comes from the leaf's directory and has 16
//! bits; so time and memory are bounded whatever the bytes are.

use super::{
    Codec, CodecError, Defect, Predictor, booleans, bytes::Source, floats_read, gaps, integers,
    limits::ROWS_MAX, plan::ValueCodec, runs, states, states::Texts, timestamps,
};
use crate::point::ValueKind;

/// Where the values go; the kind must be the chunk's, see [`Codec::of`].
#[derive(Debug)]
pub enum ValuesMut<'a> {
    /// Floats.
    Float(&'a mut [f64]),
    /// Integers.
    Integer(&'a mut [i64]),
    /// Booleans.
    Boolean(&'a mut [bool]),
    /// Codes of states.
    State(&'a mut [u16]),
}

impl ValuesMut<'_> {
    /// The kind of value that can go there.
    pub const fn kind(&self) -> ValueKind {
        match self {
            Self::Float(_) => ValueKind::Float,
            Self::Integer(_) => ValueKind::Integer,
            Self::Boolean(_) => ValueKind::Boolean,
            Self::State(_) => ValueKind::State,
        }
    }
}

/// Memory for decoded rows: each slice has a slot for each row of the chunk.
#[derive(Debug)]
pub struct RowsMut<'a> {
    /// Timestamps.
    pub timestamps: &'a mut [i64],
    /// Values.
    pub values: ValuesMut<'a>,
    /// Row numbers of gaps.
    pub gaps: &'a mut [u16],
    /// Run lengths and dictionaries while decoding; what is left there has no meaning.
    pub scratch: &'a mut [i64],
}

/// What was decoded besides the columns.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// What the columns used.
    pub codec: Codec,
    /// How many gaps were listed.
    pub gaps: usize,
    /// The texts of a state chunk.
    pub texts: Texts<'a>,
    /// Bytes of timestamps.
    pub timestamp_len: usize,
    /// Bytes of values.
    pub value_len: usize,
}

impl Codec {
    /// Reads the codec of an encoded chunk.
    ///
    /// # Errors
    ///
    /// If there are no two bytes, or they name a codec that this version does not know.
    pub fn of(bytes: &[u8]) -> Result<Self, CodecError> {
        Self::parse(*bytes.first_chunk().ok_or(CodecError::Truncated { at: bytes.len() })?)
    }
}

/// Decodes the chunk `bytes` of `count` rows that begin at `begin` to the front of `out`.
///
/// # Errors
///
/// [`CodecError`] for bytes that are not such a chunk, for slices that are too short, and for values
/// of another kind than the chunk's. What is in `out` then has no meaning.
pub fn decode_into<'a>(
    bytes: &'a [u8],
    count: u16,
    begin: i64,
    out: RowsMut,
) -> Result<Decoded<'a>, CodecError> {
    let codec = Codec::of(bytes)?;
    let needed = usize::from(count);
    let memory = CodecError::Memory { needed };
    let mut source = Source::new(bytes);
    source.take(2)?;
    if needed == 0 || needed > ROWS_MAX {
        return Err(source.defect(Defect::Count));
    }
    let begin_at = source.at();
    let columns = out.timestamps.get_mut(..needed).ok_or(memory)?;
    timestamps::read(&mut source, codec.timestamps, begin, columns)?;
    let timestamp_len = source.at() - begin_at;
    let gaps = if codec.gaps { gaps::read(&mut source, needed, out.gaps)? } else { 0 };
    let value_begin = source.at();
    let texts = match out.values {
        ValuesMut::Float(values) if codec.kind == ValueKind::Float => {
            let values = values.get_mut(..needed).ok_or(memory)?;
            read_column(&mut source, codec, out.scratch, values, floats_read::read)?;
            Texts::none()
        }
        ValuesMut::Integer(values) if codec.kind == ValueKind::Integer => {
            let values = values.get_mut(..needed).ok_or(memory)?;
            read_column(&mut source, codec, out.scratch, values, |source, codec, predictor, _, out| {
                integers::read(source, codec, predictor, out)
            })?;
            Texts::none()
        }
        ValuesMut::Boolean(values) if codec.kind == ValueKind::Boolean => {
            let values = values.get_mut(..needed).ok_or(memory)?;
            read_column(&mut source, codec, out.scratch, values, |source, codec, _, _, out| {
                booleans::read(source, codec, out)
            })?;
            Texts::none()
        }
        ValuesMut::State(codes) if codec.kind == ValueKind::State => {
            let codes = codes.get_mut(..needed).ok_or(memory)?;
            let mut texts = Texts::none();
            read_column(&mut source, codec, out.scratch, codes, |source, _, predictor, _, out| {
                texts = Texts::read(source)?;
                states::read_codes(source, predictor, &texts, out)
            })?;
            texts
        }
        _ => return Err(CodecError::UnknownCodec { byte: codec.bytes()[0] }),
    };
    source.finish()?;
    Ok(Decoded { codec, gaps, texts, timestamp_len, value_len: source.at() - value_begin })
}

/// Reads a column of values, one for each row or one for each run.
fn read_column<'a, T: Copy>(
    source: &mut Source<'a>,
    codec: Codec,
    scratch: &mut [i64],
    out: &mut [T],
    read: impl FnOnce(&mut Source<'a>, ValueCodec, Predictor, &mut [i64], &mut [T]) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    let unknown = CodecError::UnknownCodec { byte: codec.bytes()[0] };
    let value_codec = codec.value_codec().ok_or(unknown)?;
    if !codec.runs {
        return read(source, value_codec, codec.predictor, scratch, out);
    }
    let runs = runs::read_count(source, out.len())?;
    read(source, value_codec, codec.predictor, scratch, out.get_mut(..runs).unwrap_or_default())?;
    let lengths = scratch.get_mut(..runs).ok_or(CodecError::Memory { needed: out.len() })?;
    runs::read_lengths(source, out.len(), lengths)?;
    runs::expand(out, lengths);
    Ok(())
}
