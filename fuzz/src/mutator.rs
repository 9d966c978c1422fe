//! From an input to another one: a few small changes, drawn from a seed.
//!
//! Without feedback of what code they reach; but the inputs are valid ones, and the changes are of the kind that
//! decoders trip over: flipped bits, boundary values in one to eight bytes, cut, repeated and moved pieces, pieces
//! of another input.

use siltstone_core::block::BLOCK_LEN;

/// A generator of reproducible numbers (xorshift64*, Vigna 2016).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Numbers that follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `limit`; 0 where that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from((self.draw() >> 16) % (limit.max(1) as u64)).unwrap_or(0)
    }
}

/// Values at which decoders go wrong, little-endian, of which the first bytes are taken.
const EDGES: [u64; 12] = [
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x7FFF_FFFF,
    0xFFFF_FFFF,
    0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000,
    0xFFFF_FFFF_FFFF_FFFF,
];

/// Longest input that is made.
const LEN_MAX: usize = 256 << 10;

/// Changes `input` in one to eight ways; `other` lends pieces.
pub fn mutate(input: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=random.below(8) {
        change(&mut bytes, other, random);
        bytes.truncate(LEN_MAX);
    }
    bytes
}

/// Changes a file of blocks without moving what is behind a change: bytes within blocks, mostly where their fields
/// are, and whole blocks, which get the number of their new place.
pub fn mutate_blocks(input: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=random.below(6) {
        let blocks = bytes.len() / BLOCK_LEN;
        if blocks == 0 {
            break;
        }
        let block = random.below(blocks);
        let begin = block * BLOCK_LEN;
        match random.below(20) {
            0 => {
                let from = random.below(blocks) * BLOCK_LEN;
                bytes.copy_within(from..from + BLOCK_LEN, begin);
                // The number stands behind kind, flags and length.
                bytes[begin + 4..begin + 8].copy_from_slice(&(block as u32).to_le_bytes());
            }
            1 => bytes[begin..begin + BLOCK_LEN].fill(0),
            2 => bytes.truncate(begin + BLOCK_LEN * random.below(2)),
            _ => change_in_place(&mut bytes[begin..begin + BLOCK_LEN], random),
        }
    }
    bytes
}

/// Changes some bytes of a block: of its header or the begin of its payload, of its end, or anywhere.
fn change_in_place(block: &mut [u8], random: &mut Random) {
    let payload_len = usize::from(u16::from_le_bytes([block[2], block[3]])).clamp(1, BLOCK_LEN - 32);
    let at = match random.below(4) {
        0 => random.below(32),
        1 => 32 + random.below(payload_len.min(96)),
        2 => 32 + payload_len - 1 - random.below(payload_len.min(160)),
        _ => 32 + random.below(payload_len),
    };
    let at = at.min(BLOCK_LEN - 1);
    let edge = EDGES[random.below(EDGES.len())].to_le_bytes();
    let width = [1, 2, 4, 8][random.below(4)].min(BLOCK_LEN - at);
    match random.below(5) {
        0 => block[at] ^= 1 << random.below(8),
        1 => block[at] = random.draw() as u8,
        2 => block[at..at + width].copy_from_slice(&edge[..width]),
        3 => block[at] = block[at].wrapping_add([1, 0xFF][random.below(2)]),
        _ => {
            let from = random.below(BLOCK_LEN - width);
            block.copy_within(from..from + width, at);
        }
    }
}

fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let len = bytes.len();
    let at = random.below(len);
    let piece = at..(at + 1 + random.below(64)).min(len);
    match random.below(12) {
        0 | 1 if len > 0 => bytes[at] ^= 1 << random.below(8),
        2 if len > 0 => bytes[at] = random.draw() as u8,
        3 | 4 if len > 0 => {
            let edge = EDGES[random.below(EDGES.len())].to_le_bytes();
            let width = [1, 2, 4, 8][random.below(4)].min(len - at);
            bytes[at..at + width].copy_from_slice(&edge[..width]);
        }
        5 if len > 0 => bytes[at] = bytes[at].wrapping_add([1, 0xFF][random.below(2)]),
        6 => drop(bytes.drain(piece)),
        7 => {
            let copy = bytes[piece].to_vec();
            let to = random.below(len + 1);
            bytes.splice(to..to, copy);
        }
        8 => {
            let copy = bytes[piece].to_vec();
            let to = random.below(len + 1);
            let end = (to + copy.len()).min(len);
            bytes[to..end].copy_from_slice(&copy[..end - to]);
        }
        9 => bytes.truncate(at),
        10 if !other.is_empty() => {
            let from = random.below(other.len());
            let end = (from + 1 + random.below(64)).min(other.len());
            let to = random.below(len + 1);
            bytes.splice(to..to, other[from..end].iter().copied());
        }
        _ => bytes.push(random.draw() as u8),
    }
}
