//! FAST, the plain coder: residuals in mini-blocks of 32, bit-packed at a width of their own.
//!
//! ```text
//! mini-block   header (1)   then, by header:
//!   0..=64        zigzag residuals, width = header
//!   65..=129      minimum (zigzag varint), residual - minimum, width = header - 65
//!   130..=193     zigzag residuals, their low bits of width = header - 130, then patches:
//!                 count (1), patch width (1), positions (5 bits each), high bits (patch width each)
//!   194..=254     header - 192 mini-blocks (2 to 62) of zero residuals
//!   255           reserved
//! ```
//!
//! The last mini-block of a stream is as short as what is left. Every part is byte-aligned; the bytes
//! of 32 packed numbers always are a whole number.

use super::{
    CodecError, Defect,
    bitpack::packed_len,
    bytes::{Sink, Source},
    varint::{self, bit_len, unzigzag, zigzag},
};

/// Residuals in a mini-block.
pub(super) const MINI: usize = 32;

const OFFSETS: u8 = 65;
const PATCHED: u8 = 130;
const ZEROS: u8 = 192;
const ZEROS_MAX: usize = 62;
/// More patches than this never pay in 32 residuals.
const PATCHES_MAX: usize = 12;
/// Bits of a position inside a mini-block.
const POSITION_BITS: u32 = 5;

/// How one mini-block is best written, and what that costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Zigzag { width_bits: u32 },
    Offsets { width_bits: u32, minimum: i64 },
    Patched { width_bits: u32, patches: usize, patch_bits: u32 },
}

impl Shape {
    /// The cheapest shape for `residuals` (1 to 32 of them) and its bytes.
    fn of(residuals: &[i64]) -> (Self, usize) {
        let count = residuals.len();
        let (mut all, mut minimum, mut maximum) = (0, i64::MAX, i64::MIN);
        for &residual in residuals {
            all |= zigzag(residual);
            minimum = minimum.min(residual);
            maximum = maximum.max(residual);
        }
        let width_bits = bit_len(all);
        let mut best = (Self::Zigzag { width_bits }, 1 + packed_len(count, width_bits));
        if width_bits == 0 {
            return best;
        }
        let offset_bits = bit_len(maximum.wrapping_sub(minimum) as u64);
        let cost = 1 + varint::len(zigzag(minimum)) + packed_len(count, offset_bits);
        if cost < best.1 {
            best = (Self::Offsets { width_bits: offset_bits, minimum }, cost);
        }
        if let Some((shape, cost)) = Self::patched(residuals, width_bits)
            && cost < best.1
        {
            best = (shape, cost);
        }
        best
    }

    /// The cheapest split into low bits and patches, if one may pay.
    fn patched(residuals: &[i64], width_max_bits: u32) -> Option<(Self, usize)> {
        if !Self::few_are_wide(residuals, width_max_bits) {
            return None;
        }
        let mut counts = [0_u8; 65];
        for &residual in residuals {
            if let Some(count) = counts.get_mut(bit_len(zigzag(residual)) as usize) {
                *count += 1;
            }
        }
        let mut best: Option<(Self, usize)> = None;
        let mut patches = 0;
        for width_bits in (0..width_max_bits).rev() {
            patches += usize::from(counts.get(width_bits as usize + 1).copied().unwrap_or_default());
            if patches > PATCHES_MAX {
                break;
            }
            let patch_bits = width_max_bits - width_bits;
            let cost = 3
                + packed_len(residuals.len(), width_bits)
                + packed_len(patches, POSITION_BITS)
                + packed_len(patches, patch_bits);
            if best.is_none_or(|(_, least)| cost < least) {
                best = Some((Self::Patched { width_bits, patches, patch_bits }, cost));
            }
        }
        best
    }

    /// Whether few residuals need nearly the widest bits: a cheap look before the splits are tried.
    fn few_are_wide(residuals: &[i64], width_max_bits: u32) -> bool {
        let wider_than = |bits: u32| {
            residuals.iter().map(|&residual| usize::from(zigzag(residual) >> bits != 0)).sum::<usize>()
        };
        width_max_bits > 2
            && (wider_than(width_max_bits - 2) <= 4 || wider_than(width_max_bits.saturating_sub(3)) <= 8)
    }

    fn write(self, residuals: &[i64], sink: &mut Sink) {
        let mut folded = [0; MINI];
        let fold = |to: &mut [u64; MINI], how: &dyn Fn(i64) -> u64| {
            for (to, &residual) in to.iter_mut().zip(residuals) {
                *to = how(residual);
            }
        };
        let count = residuals.len().min(MINI);
        match self {
            Self::Zigzag { width_bits } => {
                sink.byte(width_bits as u8);
                fold(&mut folded, &zigzag);
                sink.pack(folded.get(..count).unwrap_or_default(), width_bits);
            }
            Self::Offsets { width_bits, minimum } => {
                sink.byte(OFFSETS + width_bits as u8);
                sink.zigzag(minimum);
                fold(&mut folded, &|residual| residual.wrapping_sub(minimum) as u64);
                sink.pack(folded.get(..count).unwrap_or_default(), width_bits);
            }
            Self::Patched { width_bits, patches, patch_bits } => {
                sink.byte(PATCHED + width_bits as u8);
                fold(&mut folded, &zigzag);
                sink.pack(folded.get(..count).unwrap_or_default(), width_bits);
                let (mut positions, mut highs) = ([0; PATCHES_MAX], [0; PATCHES_MAX]);
                let mut slots = positions.iter_mut().zip(highs.iter_mut());
                for (position, folded) in (0..).zip(&folded) {
                    if folded >> width_bits != 0
                        && let Some((slot, high)) = slots.next()
                    {
                        (*slot, *high) = (position, folded >> width_bits);
                    }
                }
                sink.byte(patches as u8);
                sink.byte(patch_bits as u8);
                sink.pack(positions.get(..patches).unwrap_or_default(), POSITION_BITS);
                sink.pack(highs.get(..patches).unwrap_or_default(), patch_bits);
            }
        }
    }
}

/// Writes a stream, one mini-block at a time.
#[derive(Debug, Default)]
pub(super) struct BlockWriter {
    zeros: usize,
}

impl BlockWriter {
    /// Puts the next mini-block: 32 residuals, or fewer at the end of the stream.
    pub(super) fn push(&mut self, residuals: &[i64], sink: &mut Sink) {
        let (shape, _) = Shape::of(residuals);
        if shape == (Shape::Zigzag { width_bits: 0 }) {
            self.zeros += 1;
            if self.zeros == ZEROS_MAX {
                self.finish(sink);
            }
        } else {
            self.finish(sink);
            shape.write(residuals, sink);
        }
    }

    /// Puts what is held back. A writer can go on after it.
    pub(super) fn finish(&mut self, sink: &mut Sink) {
        match self.zeros {
            0 => {}
            1 => sink.byte(0),
            zeros => sink.byte(ZEROS + zeros as u8),
        }
        self.zeros = 0;
    }
}

/// Writes all of `residuals` as one stream.
pub(super) fn write(residuals: &[i64], sink: &mut Sink) {
    let mut writer = BlockWriter::default();
    for block in residuals.chunks(MINI) {
        writer.push(block, sink);
    }
    writer.finish(sink);
}

/// Adds up the bytes of a stream without writing it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockMeter {
    bytes: usize,
    zeros: usize,
}

impl BlockMeter {
    /// Counts the next mini-block in; an empty one changes nothing.
    pub(super) fn push(&mut self, residuals: &[i64]) {
        if residuals.is_empty() {
            return;
        }
        let (shape, cost) = Shape::of(residuals);
        if shape == (Shape::Zigzag { width_bits: 0 }) {
            // A zero mini-block that joins those before it is free.
            self.bytes += if self.zeros == 0 { cost } else { 0 };
            self.zeros = (self.zeros + 1) % ZEROS_MAX;
        } else {
            self.bytes += cost;
            self.zeros = 0;
        }
    }

    /// The bytes so far.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Reads a stream, one mini-block at a time.
#[derive(Debug)]
pub(super) struct BlockReader {
    left: usize,
    zeros: usize,
}

impl BlockReader {
    /// A stream of `count` residuals.
    pub(super) fn new(count: usize) -> Self {
        Self { left: count, zeros: 0 }
    }

    /// Fills the front of `block` with the next residuals; how many, and 0 only behind the last.
    pub(super) fn next(&mut self, source: &mut Source, block: &mut [i64; MINI]) -> Result<usize, CodecError> {
        let count = self.left.min(MINI);
        self.left -= count;
        let Some(out) = block.get_mut(..count) else { return Ok(0) };
        if count == 0 {
            return Ok(0);
        }
        if self.zeros > 0 {
            self.zeros -= 1;
            out.fill(0);
            return Ok(count);
        }
        let wrong = source.defect(Defect::MiniBlock);
        let header = source.byte()?;
        let mut folded = [0; MINI];
        let Some(folded) = folded.get_mut(..count) else { return Ok(0) };
        match header {
            0..OFFSETS => {
                source.unpack(u32::from(header), folded)?;
                unfold(folded, out);
            }
            OFFSETS..PATCHED => {
                let minimum = source.zigzag()?;
                source.unpack(u32::from(header - OFFSETS), folded)?;
                for (out, &offset) in out.iter_mut().zip(folded.iter()) {
                    *out = minimum.wrapping_add(offset as i64);
                }
            }
            PATCHED..=193 => {
                let width_bits = u32::from(header - PATCHED);
                source.unpack(width_bits, folded)?;
                patch(source, folded, width_bits)?;
                unfold(folded, out);
            }
            194..=254 => {
                let zeros = usize::from(header - ZEROS) - 1;
                if zeros > self.left.div_ceil(MINI) {
                    return Err(wrong);
                }
                self.zeros = zeros;
                out.fill(0);
            }
            255 => return Err(wrong),
        }
        Ok(count)
    }
}

fn unfold(folded: &[u64], out: &mut [i64]) {
    for (out, &folded) in out.iter_mut().zip(folded) {
        *out = unzigzag(folded);
    }
}

/// Sets the high bits of the patched numbers.
fn patch(source: &mut Source, folded: &mut [u64], width_bits: u32) -> Result<(), CodecError> {
    let wrong = source.defect(Defect::MiniBlock);
    let (patches, patch_bits) = (usize::from(source.byte()?), u32::from(source.byte()?));
    let (mut positions, mut highs) = ([0; MINI], [0; MINI]);
    let (Some(positions), Some(highs)) = (positions.get_mut(..patches), highs.get_mut(..patches)) else {
        return Err(wrong);
    };
    if patch_bits > u64::BITS - width_bits {
        return Err(wrong);
    }
    source.unpack(POSITION_BITS, positions)?;
    source.unpack(patch_bits, highs)?;
    for (&position, &high) in positions.iter().zip(highs.iter()) {
        // The position has 5 bits, so it fits; in a short mini-block it may still be too large.
        *folded.get_mut(position as usize).ok_or(wrong)? |= high << width_bits;
    }
    Ok(())
}

/// Reads a stream of `out.len()` residuals.
pub(super) fn read(source: &mut Source, out: &mut [i64]) -> Result<(), CodecError> {
    let mut reader = BlockReader::new(out.len());
    let mut block = [0; MINI];
    for out in out.chunks_mut(MINI) {
        reader.next(source, &mut block)?;
        for (out, &residual) in out.iter_mut().zip(&block) {
            *out = residual;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{BlockMeter, MINI, read, write};
    use crate::codec::{
        CodecError, Defect,
        bytes::{Sink, Source},
    };
    use proptest::{collection::vec, prelude::*};

    fn coded(residuals: &[i64]) -> Vec<u8> {
        let mut out = vec![0; 16 + residuals.len() * 9];
        let mut sink = Sink::new(&mut out);
        write(residuals, &mut sink);
        let len = sink.len();
        out.truncate(len);
        out
    }

    fn back(bytes: &[u8], count: usize) -> Result<Vec<i64>, CodecError> {
        let mut out = vec![7; count];
        let mut source = Source::new(bytes);
        read(&mut source, &mut out)?;
        source.finish()?;
        Ok(out)
    }

    #[test]
    fn documented_mini_blocks() {
        assert_eq!(coded(&[]), []);
        assert_eq!(coded(&[0; 32]), [0x00]);
        assert_eq!(coded(&[0; 33]), [0xc2]);
        assert_eq!(coded(&[0; 32 * 62 + 1]), [0xfe, 0x00]);
        assert_eq!(coded(&[1, -1, 0, 0]), [0x02, 0x06]);
        assert_eq!(coded(&[1000; 8]), [0x41, 0xd0, 0x0f]);
        let mut spike = [0; 32];
        spike[9] = -300;
        assert_eq!(coded(&spike), [0x82, 0x01, 0x0a, 0x09, 0x57, 0x02]);
    }

    #[test]
    fn impossible_headers_are_refused() {
        let wrong = |at| Err(CodecError::Invalid { at, defect: Defect::MiniBlock });
        assert_eq!(back(&[0xff], 5), wrong(0));
        assert_eq!(back(&[0xc3], 64), wrong(0));
        assert_eq!(back(&[0xc3], 65), Ok(vec![0; 65]));
        // 33 patches, a patch of 65 bits, a patch behind a short mini-block.
        assert_eq!(back(&[0x82, 33, 1], 32), wrong(1));
        assert_eq!(back(&[0x82, 1, 65], 32), wrong(1));
        assert_eq!(back(&[0x82, 1, 1, 9, 1], 9), wrong(1));
    }

    proptest! {
        #[test]
        fn round_trip_and_meter(
            mut residuals in vec(any::<i64>(), 0..200),
            shift in 0_u32..64,
            sparse in 0_usize..40,
        ) {
            for (index, residual) in residuals.iter_mut().enumerate() {
                *residual >>= shift;
                if sparse > 1 && !(index * 7919).is_multiple_of(sparse) {
                    *residual &= 3;
                }
                if sparse > 30 && index > 50 {
                    *residual = 0;
                }
            }
            let bytes = coded(&residuals);
            prop_assert_eq!(back(&bytes, residuals.len()), Ok(residuals.clone()));
            let mut meter = BlockMeter::default();
            for block in residuals.chunks(MINI) {
                meter.push(block);
            }
            prop_assert_eq!(meter.bytes(), bytes.len());
        }
    }
}
