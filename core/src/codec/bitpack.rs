//! Runs of unsigned numbers of one width, packed without space between them.
//!
//! ```text
//! number i has bits [i × width, (i + 1) × width), counted from the lowest bit of the first byte:
//!
//! width 3, numbers 1, 2, 7, 4    bits  001 010 111 100 (lowest first: 100 010 111 001)
//!                                bytes 0xd1 0x09
//! ```
//!
//! A run takes `ceil(count × width / 8)` bytes; unused high bits of the last byte are written as zero and
//! ignored when read. Widths are 0 to 64 bits; numbers are cut to the width.

/// The widest number, in bits.
pub const WIDTH_MAX_BITS: u32 = 64;

/// How many bytes a run takes.
pub const fn packed_len(count: usize, width_bits: u32) -> usize {
    (count * width_bits as usize).div_ceil(8)
}

/// The lowest `width_bits` bits set.
const fn mask(width_bits: u32) -> u64 {
    if width_bits == 0 { 0 } else { u64::MAX >> (u64::BITS - width_bits) }
}

/// Packs `values` at the start of `out` and gives the bytes used.
///
/// `None` where `out` is too small or the width is more than [`WIDTH_MAX_BITS`].
pub fn pack(values: &[u64], width_bits: u32, out: &mut [u8]) -> Option<usize> {
    if width_bits > WIDTH_MAX_BITS {
        return None;
    }
    let used = packed_len(values.len(), width_bits);
    let out = out.get_mut(..used)?;
    match width_bits {
        0 => {}
        1..=32 => pack_narrow(values, width_bits, out),
        _ => pack_wide(values, width_bits, out),
    }
    Some(used)
}

/// Up to 32 bits: an accumulator of 64 bits never overflows before its lower half is put out.
fn pack_narrow(values: &[u64], width_bits: u32, out: &mut [u8]) {
    let mask = mask(width_bits);
    let (mut held, mut held_bits) = (0_u64, 0);
    let mut words = out.chunks_exact_mut(4);
    for &value in values {
        held |= (value & mask) << held_bits;
        held_bits += width_bits;
        if held_bits >= 32 {
            let Some(word) = words.next() else { break };
            word.copy_from_slice(&(held as u32).to_le_bytes());
            held >>= 32;
            held_bits -= 32;
        }
    }
    // What is held ends the run: a last whole word, or the bytes that are no whole word.
    let last = words.next().unwrap_or_else(|| words.into_remainder());
    for (byte, held) in last.iter_mut().zip(held.to_le_bytes()) {
        *byte = held;
    }
}

/// Up to 64 bits, likewise through 128.
fn pack_wide(values: &[u64], width_bits: u32, out: &mut [u8]) {
    let mask = mask(width_bits);
    let (mut held, mut held_bits) = (0_u128, 0);
    let mut words = out.chunks_exact_mut(8);
    for &value in values {
        held |= u128::from(value & mask) << held_bits;
        held_bits += width_bits;
        if held_bits >= 64 {
            let Some(word) = words.next() else { break };
            word.copy_from_slice(&(held as u64).to_le_bytes());
            held >>= 64;
            held_bits -= 64;
        }
    }
    // What is held ends the run: a last whole word, or the bytes that are no whole word.
    let last = words.next().unwrap_or_else(|| words.into_remainder());
    for (byte, held) in last.iter_mut().zip(held.to_le_bytes()) {
        *byte = held;
    }
}

/// Fills `out` from the run at the start of `bytes` and gives the bytes used.
///
/// `None` where `bytes` is too short or the width is more than [`WIDTH_MAX_BITS`].
pub fn unpack(bytes: &[u8], width_bits: u32, out: &mut [u64]) -> Option<usize> {
    if width_bits > WIDTH_MAX_BITS {
        return None;
    }
    let used = packed_len(out.len(), width_bits);
    if bytes.len() < used {
        return None;
    }
    match width_bits {
        0 => out.fill(0),
        // A number and the up to 7 bits before it in its first byte fit one load of 8 bytes.
        1..=57 => unpack_narrow(bytes, width_bits, out),
        _ => unpack_wide(bytes, width_bits, out),
    }
    Some(used)
}

fn unpack_narrow(bytes: &[u8], width_bits: u32, out: &mut [u64]) {
    let mask = mask(width_bits);
    let mut bit = 0;
    for value in out {
        let rest = bytes.get(bit / 8..).unwrap_or_default();
        let word = match rest.first_chunk::<8>() {
            Some(word) => u64::from_le_bytes(*word),
            None => short_word(rest) as u64,
        };
        *value = (word >> (bit % 8)) & mask;
        bit += width_bits as usize;
    }
}

fn unpack_wide(bytes: &[u8], width_bits: u32, out: &mut [u64]) {
    let mask = mask(width_bits);
    let mut bit = 0;
    for value in out {
        let rest = bytes.get(bit / 8..).unwrap_or_default();
        let word = match rest.first_chunk::<16>() {
            Some(word) => u128::from_le_bytes(*word),
            None => short_word(rest),
        };
        *value = (word >> (bit % 8)) as u64 & mask;
        bit += width_bits as usize;
    }
}

/// The last bytes of a run, with zeros behind them.
#[cold]
fn short_word(rest: &[u8]) -> u128 {
    let mut word = [0; 16];
    for (to, &from) in word.iter_mut().zip(rest) {
        *to = from;
    }
    u128::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::{mask, pack, packed_len, unpack};
    use proptest::{collection::vec, prelude::*};

    /// The definition, bit by bit.
    fn pack_naive(values: &[u64], width_bits: u32) -> Vec<u8> {
        let mut out = vec![0; packed_len(values.len(), width_bits)];
        for (index, value) in values.iter().enumerate() {
            for bit in 0..width_bits as usize {
                let at = index * width_bits as usize + bit;
                out[at / 8] |= ((value >> bit & 1) as u8) << (at % 8);
            }
        }
        out
    }

    #[test]
    fn the_documented_example() {
        let mut out = [0xff; 2];
        assert_eq!(pack(&[1, 2, 7, 4], 3, &mut out), Some(2));
        assert_eq!(out, [0xd1, 0x09]);
    }

    #[test]
    fn short_memory_and_wide_widths_are_refused() {
        assert_eq!(pack(&[1, 2, 3], 3, &mut [0; 1]), None);
        assert_eq!(pack(&[1], 65, &mut [0; 99]), None);
        assert_eq!(unpack(&[0; 1], 3, &mut [0; 3]), None);
        assert_eq!(unpack(&[0; 99], 65, &mut [0; 3]), None);
        assert_eq!(unpack(&[], 0, &mut [7; 3]), Some(0));
    }

    proptest! {
        #[test]
        fn same_as_the_definition(
            values in vec(any::<u64>(), 0..70),
            width_bits in 0_u32..=64,
            behind in 0_usize..20,
        ) {
            let naive = pack_naive(&values, width_bits);
            let mut out = vec![0xaa; naive.len() + behind];
            prop_assert_eq!(pack(&values, width_bits, &mut out), Some(naive.len()));
            prop_assert_eq!(&out[..naive.len()], &naive[..]);
            prop_assert!(out[naive.len()..].iter().all(|&byte| byte == 0xaa));
            let mut back = vec![1; values.len()];
            prop_assert_eq!(unpack(&out, width_bits, &mut back), Some(naive.len()));
            let cut: Vec<u64> = values.iter().map(|value| value & mask(width_bits)).collect();
            prop_assert_eq!(back, cut);
        }
    }
}
