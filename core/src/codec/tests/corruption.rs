//! Do cut, changed and invented bytes always give rows or an error, never a panic?

use super::{generate::columns, round_trip::check, round_trip::float_plans};
use crate::codec::{Chunk, CodecError, Plan, Rows, Values, decode};
use proptest::{collection::vec, prelude::*};

#[test]
fn every_truncation_is_an_error() {
    let mut chunk = Chunk::default();
    for column in columns(150, 3) {
        for plan in float_plans() {
            let rows =
                Rows { timestamps: &column.timestamps, values: Values::Float(&column.values), gaps: &[3, 9] };
            let (_, bytes) = check(&rows, &plan);
            for len in 0..bytes.len() {
                let error = decode(&bytes[..len], 150, 0, &mut chunk).unwrap_err();
                assert!(chunk.is_empty() && !error.to_string().is_empty());
            }
            let mut longer = bytes.clone();
            longer.push(0);
            assert_eq!(decode(&longer, 150, 0, &mut chunk), Err(CodecError::Trailing { at: bytes.len() }));
        }
    }
}

#[test]
fn every_changed_byte_is_survived() {
    let mut chunk = Chunk::default();
    for column in columns(60, 4) {
        for plan in float_plans() {
            let rows =
                Rows { timestamps: &column.timestamps, values: Values::Float(&column.values), gaps: &[] };
            let (_, bytes) = check(&rows, &plan);
            let mut changed = bytes.clone();
            for at in 0..bytes.len() {
                for change in [0x01, 0x80, 0xff, 0x55] {
                    changed[at] = bytes[at] ^ change;
                    if decode(&changed, 60, 0, &mut chunk).is_ok() {
                        assert_eq!(chunk.len(), 60);
                    }
                }
                changed[at] = bytes[at];
            }
        }
    }
}

#[test]
fn codecs_of_the_future_cost_only_their_chunk() {
    let mut chunk = Chunk::default();
    let rows = Rows { timestamps: &[5], values: Values::Integer(&[7]), gaps: &[] };
    let (_, bytes) = check(&rows, &Plan::default());
    for codec in 0..=255_u8 {
        let known = [1, 2, 3, 4, 5, 6, 7, 8, 0x21, 0x22, 0x23, 0x41, 0x42, 0x43, 0x44, 0x63];
        let mut future = bytes.clone();
        future[0] = codec;
        let result = decode(&future, 1, 5, &mut chunk);
        if !known.contains(&(codec & 0x7f)) {
            assert_eq!(result, Err(CodecError::UnknownCodec { byte: codec }));
        }
    }
    for columns in (0..=255_u8).filter(|columns| columns & 0x1f > 2) {
        let mut future = bytes.clone();
        future[1] = columns;
        let result = decode(&future, 1, 5, &mut chunk);
        assert_eq!(result, Err(CodecError::UnknownColumns { byte: columns }));
    }
}

proptest! {
    #[test]
    fn invented_bytes(mut bytes in vec(any::<u8>(), 0..300), count in any::<u16>(), codec in 0..12_usize) {
        let known = [0x01, 0x02, 0x03, 0x83, 0x87, 0x23, 0x43, 0xc4, 0xe3, 0x05, 0x06, 0x08];
        if let [first, columns, ..] = &mut bytes[..] {
            *first = known[codec];
            *columns &= 0xe3;
        }
        let mut chunk = Chunk::default();
        match decode(&bytes, count, 1 << 60, &mut chunk) {
            Ok(()) => prop_assert_eq!(chunk.len(), usize::from(count)),
            Err(_) => prop_assert!(chunk.is_empty()),
        }
    }
}
