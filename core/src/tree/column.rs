//! One column of integers, packed: offsets from the minimum in a fixed width, the few that are wider
//! listed as exceptions, and 16 bytes each where 64 bits are not enough.
//!
//! The byte form is in `docs/format.md`, chapter 8. Values are 128 bits wide in memory, so that no
//! difference of two 64-bit numbers overflows. This file does not know what a column means.

use super::TableError;
use crate::block::Cursor;
use crate::codec::bitpack;
use crate::codec::bytes::Sink;

/// Head byte of a column of 16-byte integers.
const WIDE: u8 = 127;
/// Head bit of a column with exceptions.
const EXCEPTIONS: u8 = 128;
/// How many offsets are packed at a time; a multiple of 8, so that every run ends at a byte.
const RUN: usize = 64;

/// Puts `values`; gives nothing back, since a sink counts even what doesn't fit.
pub(super) fn put(values: &[i128], sink: &mut Sink<'_>) {
    let Some(minimum) = narrow_minimum(values) else {
        sink.byte(WIDE);
        for value in values {
            sink.put(&value.to_le_bytes());
        }
        return;
    };
    let width = best_width(values, minimum);
    let widest = bits(values.iter().map(|value| offset(*value, minimum)).max().unwrap_or(0));
    let exceptions = width < widest;
    sink.byte(width as u8 | if exceptions { EXCEPTIONS } else { 0 });
    sink.zigzag(minimum);
    let mut run = [0u64; RUN];
    for chunk in values.chunks(RUN) {
        for (to, value) in run.iter_mut().zip(chunk) {
            *to = offset(*value, minimum);
        }
        if let Some(filled) = run.get(..chunk.len()) {
            sink.pack(filled, width);
        }
    }
    if exceptions {
        put_exceptions(values, minimum, width, sink);
    }
}

fn put_exceptions(values: &[i128], minimum: i64, width: u32, sink: &mut Sink<'_>) {
    let high = |value: &i128| offset(*value, minimum) >> width;
    sink.varint(values.iter().filter(|value| high(value) > 0).count() as u64);
    let mut expected = 0usize;
    for (at, value) in values.iter().enumerate() {
        if high(value) > 0 {
            sink.varint((at - expected) as u64);
            sink.varint(high(value));
            expected = at + 1;
        }
    }
}

/// Fills `out` with the next column.
#[cfg_attr(not(feature = "alloc"), expect(dead_code, reason = "what reads needs a heap"))]
pub(super) fn get(cursor: &mut Cursor<'_>, out: &mut [i128]) -> Result<(), TableError> {
    let head = cursor.u8()?;
    if head == WIDE {
        for value in out.iter_mut() {
            let bytes = cursor.take(16)?.first_chunk().ok_or(TableError::Truncated)?;
            *value = i128::from_le_bytes(*bytes);
        }
        return Ok(());
    }
    let width = u32::from(head & !EXCEPTIONS);
    if width > 64 || (head & EXCEPTIONS != 0 && width == 64) {
        return Err(TableError::Column);
    }
    let minimum = i128::from(cursor.zigzag()?);
    let mut run = [0u64; RUN];
    for chunk in out.chunks_mut(RUN) {
        let bytes = cursor.take(bitpack::packed_len(chunk.len(), width))?;
        let filled = run.get_mut(..chunk.len()).ok_or(TableError::Column)?;
        bitpack::unpack(bytes, width, filled).ok_or(TableError::Truncated)?;
        for (to, low) in chunk.iter_mut().zip(filled.iter()) {
            *to = minimum + i128::from(*low);
        }
    }
    if head & EXCEPTIONS != 0 {
        get_exceptions(cursor, width, out)?;
    }
    Ok(())
}

fn get_exceptions(cursor: &mut Cursor<'_>, width: u32, out: &mut [i128]) -> Result<(), TableError> {
    let count = cursor.varint()?;
    let mut rest = out;
    for _ in 0..count {
        let distance = usize::try_from(cursor.varint()?).map_err(|_| TableError::Column)?;
        let high = cursor.varint()?;
        let (value, behind) =
            rest.get_mut(distance..).and_then(<[i128]>::split_first_mut).ok_or(TableError::Column)?;
        if high > u64::MAX >> width {
            return Err(TableError::Column);
        }
        *value += i128::from(high << width);
        rest = behind;
    }
    Ok(())
}

/// The minimum, where it fits 64 bits and so do all offsets from it.
fn narrow_minimum(values: &[i128]) -> Option<i64> {
    let minimum = values.iter().copied().min().unwrap_or(0);
    let maximum = values.iter().copied().max().unwrap_or(0);
    let narrow = i64::try_from(minimum).ok()?;
    let spread = maximum.checked_sub(minimum)?;
    (spread <= i128::from(u64::MAX)).then_some(narrow)
}

fn offset(value: i128, minimum: i64) -> u64 {
    value.wrapping_sub(i128::from(minimum)) as u64
}

fn bits(offset: u64) -> u32 {
    u64::BITS - offset.leading_zeros()
}

/// The width with the fewest bytes in all, exceptions counted as a byte of distance and seven bits a byte.
fn best_width(values: &[i128], minimum: i64) -> u32 {
    let mut histogram = [0u32; 65];
    for value in values {
        if let Some(count) = histogram.get_mut(bits(offset(*value, minimum)) as usize) {
            *count += 1;
        }
    }
    let widest =
        (0..=64u32).rev().find(|w| histogram.get(*w as usize).is_some_and(|count| *count > 0)).unwrap_or(0);
    let (mut best, mut best_bits) = (widest, values.len() as u64 * u64::from(widest));
    for width in 0..widest {
        let mut cost = values.len() as u64 * u64::from(width) + 8;
        for wider in width + 1..=widest {
            let count = histogram.get(wider as usize).copied().unwrap_or(0);
            cost += u64::from(count) * (8 + 8 * u64::from((wider - width).div_ceil(7)));
        }
        if cost < best_bits {
            (best, best_bits) = (width, cost);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::{get, put};
    use crate::block::Cursor;
    use crate::codec::bytes::Sink;
    use proptest::{collection::vec, prelude::*};

    fn round_trip(values: &[i128]) -> usize {
        let mut bytes = vec![0; 16 * values.len() + 64];
        let mut sink = Sink::new(&mut bytes);
        put(values, &mut sink);
        let len = sink.len();
        let mut cursor = Cursor::new(&bytes[..len]);
        let mut back = vec![0; values.len()];
        get(&mut cursor, &mut back).expect("valid");
        assert!(cursor.rest().is_empty());
        assert_eq!(back, values);
        len
    }

    #[test]
    fn one_outlier_does_not_widen_the_column() {
        let mut values: Vec<i128> = (0..200).map(|i| i % 4).collect();
        assert_eq!(round_trip(&values), 2 + 50);
        values[77] = 1 << 40;
        assert!(round_trip(&values) < 2 + 50 + 12);
        assert_eq!(round_trip(&[5; 200]), 2);
    }

    #[test]
    fn the_documented_examples() {
        let bytes_of = |values: &[i128]| {
            let mut bytes = [0; 64];
            let mut sink = Sink::new(&mut bytes);
            put(values, &mut sink);
            let len = sink.len();
            bytes[..len].to_vec()
        };
        assert_eq!(bytes_of(&[5, 6, 7, 5]), [0x02, 0x0A, 0x24]);
        let mut spike = [-1; 20];
        spike[3] = 255;
        assert_eq!(bytes_of(&spike), [0x80, 0x01, 0x01, 0x03, 0x80, 0x02]);
    }

    proptest! {
        #[test]
        fn every_column_comes_back(
            values in vec(prop_oneof![-3i128..3, any::<i64>().prop_map(i128::from), any::<i128>()], 0..200)
        ) {
            round_trip(&values);
        }

        #[test]
        fn any_bytes_end_in_an_answer(bytes in vec(any::<u8>(), 0..200), count in 0usize..100) {
            let mut out = vec![0; count];
            let _ = get(&mut Cursor::new(&bytes), &mut out);
        }
    }
}
