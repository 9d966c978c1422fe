//! All targets, with the memory that an input may take: a base, and so much a byte.
//!
//! The base of what decodes chunks is that of one chunk of 65,535 rows, which a run needs a few bytes for.

use crate::mutator::{Random, mutate, mutate_blocks};

use super::{blocks, chunks, images, texts};

/// A decoder under any bytes.
#[derive(Clone, Copy)]
pub struct Target {
    /// What it is called, and the folder of its corpus.
    pub name: &'static str,
    /// Runs it; panics where its promise is broken.
    pub run: fn(&[u8]),
    /// Bytes of memory it may take for no input at all.
    pub base_bytes: usize,
    /// Bytes of memory it may take for a byte of input.
    pub bytes_a_byte: usize,
    /// Whether an input is a file of blocks: changes then stay where they are.
    pub is_of_blocks: bool,
    /// How many changed inputs the ordinary tests try.
    pub replays: u64,
}

const fn target(name: &'static str, run: fn(&[u8]), base_bytes: usize, replays: u64) -> Target {
    Target { name, run, base_bytes, bytes_a_byte: 64, is_of_blocks: false, replays }
}

/// One chunk of the largest kind, decoded and coded again.
const CHUNK_BYTES: usize = 16 << 20;
/// Decoded references take 350 bytes each and may take less than a byte stored.
const REFERENCES_BYTES: usize = 2 << 20;

impl Target {
    /// A change of `input`; `other` lends pieces.
    pub fn mutate(&self, input: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
        if self.is_of_blocks { mutate_blocks(input, random) } else { mutate(input, other, random) }
    }

    const fn of_blocks(self) -> Self {
        Self { is_of_blocks: true, ..self }
    }
}

/// Every target.
pub const TARGETS: &[Target] = &[
    target("chunk", chunks::decode_chunk, CHUNK_BYTES, 400),
    target("round_trip", chunks::round_trip, CHUNK_BYTES, 1_000),
    target("block", blocks::block, 64 << 10, 4_000),
    target("header", blocks::header, 64 << 10, 4_000),
    target("footer", blocks::footer, 64 << 10, 4_000),
    target("leaf", blocks::leaf, 64 << 10, 4_000),
    target("node", blocks::node, REFERENCES_BYTES, 2_000),
    target("table", blocks::table, 4 << 20, 2_000),
    target("catalog", blocks::catalog, 256 << 10, 2_000),
    target("index", blocks::index, 256 << 10, 2_000),
    target("image", images::segment, 40 << 20, 200).of_blocks(),
    target("journal", images::journal, 24 << 20, 60).of_blocks(),
    target("store_id", images::store_id, 64 << 10, 4_000),
    target("payload", texts::payload, 1 << 20, 4_000),
    target("csv", texts::csv, 1 << 20, 500),
    target("selector", texts::selector, 64 << 10, 4_000),
    target("config", texts::config, 1 << 20, 1_000),
    target("question", texts::question, 256 << 10, 4_000),
];
