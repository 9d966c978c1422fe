//! Columns of booleans.
//!
//! ```text
//! bitmap        a bit for each row, lowest first, ceil(rows / 8) bytes; unused bits are 0
//! constant      0 or 1 (1)
//! alternating   the value of the first run, 0 or 1 (1); each further run has the other
//! ```

use super::{
    CodecError, Defect,
    bytes::{Sink, Source},
    plan::ValueCodec,
};

/// Writes a bitmap.
pub(super) fn write_bitmap(values: impl Iterator<Item = bool>, sink: &mut Sink) {
    let (mut byte, mut bits) = (0_u8, 0);
    for value in values {
        byte |= u8::from(value) << bits;
        bits += 1;
        if bits == 8 {
            sink.byte(byte);
            (byte, bits) = (0, 0);
        }
    }
    if bits > 0 {
        sink.byte(byte);
    }
}

/// Reads a column of `out.len()` values (of runs, for alternating ones).
pub(super) fn read(source: &mut Source, codec: ValueCodec, out: &mut [bool]) -> Result<(), CodecError> {
    match codec {
        ValueCodec::Bitmap => {
            let bytes = source.take(out.len().div_ceil(8))?;
            for (out, byte) in out.chunks_mut(8).zip(bytes) {
                for (bit, out) in out.iter_mut().enumerate() {
                    *out = byte >> bit & 1 != 0;
                }
            }
            Ok(())
        }
        ValueCodec::Constant => {
            out.fill(read_boolean(source)?);
            Ok(())
        }
        ValueCodec::Alternating => {
            let mut value = read_boolean(source)?;
            for out in out {
                *out = value;
                value = !value;
            }
            Ok(())
        }
        _ => Err(source.defect(Defect::Reserved)),
    }
}

fn read_boolean(source: &mut Source) -> Result<bool, CodecError> {
    let wrong = source.defect(Defect::Boolean);
    match source.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(wrong),
    }
}
