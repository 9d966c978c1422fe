//! Block files block by block: each block opened, each leaf taken apart, each chunk decoded.
//!
//! Used to say what a file is made of and whether it is whole. Nothing is trusted: what does not open
//! is a fault with its block, and the walk goes on.

use std::collections::BTreeMap;

use siltstone_core::block::{BLOCK_LEN, BlockError, BlockKind, HEADER_LEN, SegmentId, open};
use siltstone_core::codec::{self, Chunk, Codec};
use siltstone_core::tree::leaf::{Entry, Leaf};
use siltstone_core::tree::node;

use crate::shelf::BlockSource;

/// Blocks of one read.
const READ_BLOCKS: u32 = 256;

/// What is seen of a series.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SeriesTally {
    pub(super) rows: u64,
    pub(super) chunks: u64,
    pub(super) timestamp_bytes: u64,
    pub(super) value_bytes: u64,
    pub(super) overhead_bytes: u64,
}

/// What is seen of blocks of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KindTally {
    pub(super) blocks: u64,
    pub(super) payload_bytes: u64,
}

/// What is seen of chunks of one codec.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CodecTally {
    pub(super) chunks: u64,
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

/// What a walk saw.
#[derive(Debug, Default)]
pub(super) struct Walk {
    /// By series index.
    pub(super) series: BTreeMap<u32, SeriesTally>,
    /// By the name of the kind.
    pub(super) kinds: BTreeMap<&'static str, KindTally>,
    /// By the name of the codec.
    pub(super) codecs: BTreeMap<String, CodecTally>,
    /// Bytes of the directories in leaves.
    pub(super) directory_bytes: u64,
    /// Block and what is wrong with it.
    pub(super) faults: Vec<(u32, String)>,
    /// Blocks of zeros at the end: room that is not used yet.
    pub(super) empty_blocks: u64,
}

/// Walks over every block of `source`, which belongs to the segment `id`.
pub(super) fn walk(source: &dyn BlockSource, id: &SegmentId, block_seen: impl Fn(u64)) -> Walk {
    let mut walk = Walk::default();
    let mut chunk = Chunk::default();
    let mut first = 0;
    while first < source.block_count() {
        let count = READ_BLOCKS.min(source.block_count() - first);
        let bytes = match source.read(first, count) {
            Ok(bytes) => bytes,
            Err(reason) => {
                walk.faults.push((first, reason));
                first += count;
                continue;
            }
        };
        for (number, block) in (first..).zip(bytes.chunks_exact(BLOCK_LEN)) {
            walk.block(number, block, id, &mut chunk);
        }
        first += count;
        block_seen(u64::from(count));
    }
    walk
}

impl Walk {
    fn block(&mut self, number: u32, bytes: &[u8], id: &SegmentId, chunk: &mut Chunk) {
        let (header, payload) = match open(bytes, id, number) {
            Ok(opened) => opened,
            Err(BlockError::Empty) => {
                self.empty_blocks += 1;
                return;
            }
            Err(error) => return self.faults.push((number, error.to_string())),
        };
        if self.empty_blocks > 0 {
            self.faults.push((number, "there are blocks of zeros before it".to_owned()));
            self.empty_blocks = 0;
        }
        let tally = self.kinds.entry(header.kind.name()).or_default();
        tally.blocks += 1;
        tally.payload_bytes += payload.len() as u64;
        match header.kind {
            BlockKind::Leaf => self.leaf(number, payload, chunk),
            BlockKind::Node => {
                if let Some(error) = node::all(payload).find_map(Result::err) {
                    self.faults.push((number, format!("no valid node: {error}")));
                }
            }
            _ => {}
        }
    }

    fn leaf(&mut self, number: u32, payload: &[u8], chunk: &mut Chunk) {
        let leaf = match Leaf::open(payload) {
            Ok(leaf) => leaf,
            Err(error) => return self.faults.push((number, error.to_string())),
        };
        let mut chunk_bytes = 0;
        for (slot, (entry, bytes)) in leaf.iter().enumerate() {
            chunk_bytes += bytes.len() as u64;
            if let Err(reason) = self.chunk(&entry, bytes, chunk) {
                self.faults.push((number, format!("chunk {slot}: {reason}")));
            }
        }
        self.directory_bytes += (payload.len() as u64).saturating_sub(chunk_bytes);
    }

    fn chunk(&mut self, entry: &Entry, bytes: &[u8], chunk: &mut Chunk) -> Result<(), String> {
        codec::decode(bytes, entry.rows, entry.begin, chunk).map_err(|error| error.to_string())?;
        if !chunk.timestamps.is_sorted_by(|a, b| a < b) {
            return Err("its times don't rise".to_owned());
        }
        if chunk.timestamps.first() != Some(&entry.begin) || chunk.timestamps.last() != Some(&entry.last) {
            return Err("its times are not those of the directory".to_owned());
        }
        let described = codec::describe(bytes, entry.rows).map_err(|error| error.to_string())?;
        let tally = self.series.entry(entry.series).or_default();
        tally.rows += u64::from(entry.rows);
        tally.chunks += 1;
        tally.timestamp_bytes += described.timestamp_len as u64;
        tally.value_bytes += described.value_len as u64;
        tally.overhead_bytes += described.overhead_len as u64;
        let codec = self.codecs.entry(codec_name(&described.codec)).or_default();
        codec.chunks += 1;
        codec.rows += u64::from(entry.rows);
        codec.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Rows in all chunks.
    pub(super) fn rows(&self) -> u64 {
        self.series.values().map(|tally| tally.rows).sum()
    }

    /// Bytes that blocks have besides their payload.
    pub(super) fn frame_bytes(&self) -> u64 {
        let blocks: u64 = self.kinds.values().map(|tally| tally.blocks).sum();
        let payload: u64 = self.kinds.values().map(|tally| tally.payload_bytes).sum();
        (blocks * BLOCK_LEN as u64).saturating_sub(payload)
    }

    /// Bytes of the headers of blocks.
    pub(super) fn header_bytes(&self) -> u64 {
        self.kinds.values().map(|tally| tally.blocks).sum::<u64>() * HEADER_LEN as u64
    }
}

/// The words for a codec: the kind of values, how they are coded, and whether repeats are taken out.
fn codec_name(codec: &Codec) -> String {
    let runs = if codec.runs { " in runs" } else { "" };
    format!("{} {}{runs}", codec.kind.name(), codec.name())
}
