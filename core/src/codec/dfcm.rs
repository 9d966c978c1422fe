//! DFCM, the floor for floats on no grid: a small table remembers which step followed which.
//!
//! ```text
//! expected    bits of the value before + table[hash], modulo 2^64; all of them 0 at first
//! update      step = bits - bits before; table[hash] = step;
//!             hash = (hash × 32 xor step / 2^50) mod 128
//! residual    bits xor expected, as a nibble and bytes:
//!               0         residual 0, no bytes
//!               1 to 8    so many low bytes, the rest is 0
//!               9 to 15   the upper nibble - 8 bytes (1 to 7), the rest is 0
//! pair        nibbles (1, the first value in the low one), bytes of the first, bytes of the second;
//!             the high nibble behind an odd last value is 0
//! ```
//!
//! After Burtscher and Ratanaworabhan, "High Throughput Compression of Double-Precision Floating-Point
//! Data", 2007, with a table that fits a microcontroller's stack (1 KiB).

use super::{
    CodecError, Defect,
    bytes::{Sink, Source},
};

const TABLE: usize = 128;

/// What is expected of the next bits.
#[derive(Debug)]
struct Context {
    table: [u64; TABLE],
    hash: usize,
    last: u64,
}

impl Context {
    const fn new() -> Self {
        Self { table: [0; TABLE], hash: 0, last: 0 }
    }

    fn expected(&self) -> u64 {
        self.last.wrapping_add(self.table.get(self.hash).copied().unwrap_or_default())
    }

    fn update(&mut self, bits: u64) {
        let step = bits.wrapping_sub(self.last);
        if let Some(slot) = self.table.get_mut(self.hash) {
            *slot = step;
        }
        self.hash = ((self.hash << 5) ^ (step >> 50) as usize) % TABLE;
        self.last = bits;
    }
}

/// The nibble of a residual, and where its bytes are.
fn shape(residual: u64) -> (u8, usize, usize) {
    if residual == 0 {
        return (0, 0, 0);
    }
    let above = residual.leading_zeros() as usize / 8;
    let below = residual.trailing_zeros() as usize / 8;
    if below > above { (16 - below as u8, below, 8) } else { (8 - above as u8, 0, 8 - above) }
}

/// The bytes that a nibble stands for.
fn place(nibble: u8) -> (usize, usize) {
    let nibble = usize::from(nibble);
    if nibble <= 8 { (0, nibble) } else { (16 - nibble, 8) }
}

/// Writes a column.
pub(super) fn write(values: impl Iterator<Item = f64>, sink: &mut Sink) {
    let mut context = Context::new();
    let mut residuals = values.map(|value| {
        let bits = value.to_bits();
        let residual = bits ^ context.expected();
        context.update(bits);
        residual
    });
    while let Some(first) = residuals.next() {
        let second = residuals.next().unwrap_or_default();
        sink.byte(shape(first).0 | shape(second).0 << 4);
        for residual in [first, second] {
            let (_, begin, end) = shape(residual);
            sink.put(residual.to_le_bytes().get(begin..end).unwrap_or_default());
        }
    }
}

/// Reads a column of `out.len()` values.
pub(super) fn read(source: &mut Source, out: &mut [f64]) -> Result<(), CodecError> {
    let mut context = Context::new();
    for pair in out.chunks_mut(2) {
        let wrong = source.defect(Defect::Reserved);
        let nibbles = source.byte()?;
        if pair.len() < 2 && nibbles > 0x0f {
            return Err(wrong);
        }
        for (out, nibble) in pair.iter_mut().zip([nibbles & 0x0f, nibbles >> 4]) {
            let (begin, end) = place(nibble);
            let mut residual = [0; 8];
            if let Some(kept) = residual.get_mut(begin..end) {
                kept.copy_from_slice(source.take(end - begin)?);
            }
            let bits = u64::from_le_bytes(residual) ^ context.expected();
            context.update(bits);
            *out = f64::from_bits(bits);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{read, write};
    use crate::codec::bytes::{Sink, Source};
    use proptest::{collection::vec, prelude::*};

    fn coded(values: &[f64]) -> Vec<u8> {
        let mut out = vec![0; 16 + values.len() * 9];
        let mut sink = Sink::new(&mut out);
        write(values.iter().copied(), &mut sink);
        let len = sink.len();
        out.truncate(len);
        out
    }

    #[test]
    fn nibbles_name_low_and_high_bytes() {
        // The first residual is the bits themselves; then the step repeats from the second on.
        assert_eq!(coded(&[1.0]), [0x0a, 0xf0, 0x3f]);
        assert_eq!(coded(&[f64::from_bits(0x0123)]), [0x02, 0x23, 0x01]);
        assert_eq!(coded(&[0.0, 0.0, 0.0]), [0x00, 0x00]);
        assert_eq!(coded(&[f64::from_bits(u64::MAX), 0.0])[0] & 0x0f, 8);
        assert!(read(&mut Source::new(&[0x10, 0x01]), &mut [0.0]).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(mut bits in vec(any::<u64>(), 0..200), shift in 0_u32..64, cycle in 1_usize..9) {
            for index in cycle..bits.len() {
                bits[index] = bits[index - cycle].wrapping_add(bits[index] >> shift);
            }
            let values: Vec<f64> = bits.iter().map(|&bits| f64::from_bits(bits)).collect();
            let bytes = coded(&values);
            let mut back = vec![0.5; values.len()];
            let mut source = Source::new(&bytes);
            read(&mut source, &mut back).unwrap();
            prop_assert!(source.finish().is_ok());
            prop_assert!(back.iter().zip(&bits).all(|(value, &bits)| value.to_bits() == bits));
        }
    }
}
