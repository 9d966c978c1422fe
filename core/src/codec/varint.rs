//! Variable-length integers: unsigned LEB128, and zigzag for signed numbers.
//!
//! Seven bits a byte, the lowest first; the top bit says that another byte follows. A `u64` takes 1 to
//! 10 bytes. Reading is total: a number that ends early, or that does not fit 64 bits, is `None`. Longer
//! spellings of a small number (with needless zero bytes) are accepted; writing never makes them.

/// The most bytes a number can take.
pub const LEN_MAX: usize = 10;

/// How many bytes `value` takes.
pub const fn len(value: u64) -> usize {
    (bit_len(value | 1) as usize).div_ceil(7)
}

/// The position behind the highest set bit: 0 for 0, 64 for `u64::MAX`.
pub const fn bit_len(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// Writes `value` at the start of `out` and gives the bytes used; `None` where they don't fit.
pub fn write(mut value: u64, out: &mut [u8]) -> Option<usize> {
    let used = len(value);
    let (last, front) = out.get_mut(..used)?.split_last_mut()?;
    for byte in front {
        *byte = (value & 0x7f) as u8 | 0x80;
        value >>= 7;
    }
    *last = value as u8;
    Some(used)
}

/// Reads a number from the start of `bytes`: the number and how many bytes it took.
pub fn read(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for (index, &byte) in bytes.iter().take(LEN_MAX).enumerate() {
        let shift = 7 * index as u32;
        if shift == 63 && byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some((value, index + 1));
        }
    }
    None
}

/// Folds a signed number so that small ones of either sign become small: 0, -1, 1, -2 → 0, 1, 2, 3.
pub const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Undoes [`zigzag`].
pub const fn unzigzag(folded: u64) -> i64 {
    (folded >> 1) as i64 ^ -((folded & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::{LEN_MAX, len, read, unzigzag, write, zigzag};
    use proptest::prelude::{any, proptest};

    #[test]
    fn boundary_values_have_the_documented_bytes() {
        for (value, bytes) in [
            (0, &[0x00][..]),
            (127, &[0x7f]),
            (128, &[0x80, 0x01]),
            (300, &[0xac, 0x02]),
            (u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
        ] {
            let mut out = [0; LEN_MAX];
            assert_eq!(write(value, &mut out), Some(bytes.len()));
            assert_eq!(&out[..bytes.len()], bytes);
            assert_eq!(read(bytes), Some((value, bytes.len())));
            assert_eq!(write(value, &mut out[..bytes.len() - 1]), None);
        }
    }

    #[test]
    fn numbers_that_end_early_or_overflow_are_refused() {
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[0x80]), None);
        assert_eq!(read(&[0xff; 10]), None);
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]), None);
        assert_eq!(read(&[0x81, 0x00]), Some((1, 2)));
    }

    #[test]
    fn zigzag_orders_by_size() {
        assert_eq!([0, -1, 1, -2].map(zigzag), [0, 1, 2, 3]);
        assert_eq!(zigzag(i64::MIN), u64::MAX);
    }

    proptest! {
        #[test]
        fn round_trip(value in any::<u64>(), shift in 0_u32..64) {
            let value = value >> shift;
            let mut out = [0; LEN_MAX];
            let used = write(value, &mut out).unwrap();
            assert_eq!(used, len(value));
            assert_eq!(read(&out), Some((value, used)));
            assert_eq!(zigzag(unzigzag(value)), value);
        }
    }
}
