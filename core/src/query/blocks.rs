//! The blocks at hand: checked when they are fed, decoded when they are taken.
//!
//! Holds what was asked for and nothing else, so memory is bounded by the budget of a step. Damaged
//! blocks are remembered and never asked for again.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::damage::{Damage, SegmentReads, Statistics};
use super::runs::{OpenRows, Segment, SegmentHandle, check_children};
use crate::block::{BLOCK_LEN, BlockKind, open};
use crate::codec::{self, Chunk};
use crate::tree::Reference;
use crate::tree::leaf::Leaf;
use crate::tree::node;

/// Segment and block.
pub(super) type Key = (SegmentHandle, u32);

/// Payloads of blocks, and which are still awaited.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    segments: Vec<Segment>,
    payloads: BTreeMap<Key, (BlockKind, Vec<u8>)>,
    damaged: BTreeMap<Key, Damage>,
    pub(super) awaited: BTreeSet<Key>,
}

/// Whether a block can be taken now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Presence {
    Here,
    Missing,
    Damaged(Damage),
}

impl Blocks {
    pub(super) fn new(segments: Vec<Segment>) -> Self {
        Self { segments, ..Self::default() }
    }

    /// Takes one fetched block, or the news that there is none.
    pub(super) fn feed(&mut self, key: Key, bytes: Option<&[u8]>, statistics: &mut Statistics) {
        if bytes.is_some() {
            statistics.blocks_read = statistics.blocks_read.saturating_add(1);
            statistics.bytes_read = statistics.bytes_read.saturating_add(BLOCK_LEN as u64);
            statistics.note_read(key.0, SegmentReads { blocks: 1, ..SegmentReads::default() });
        }
        if !self.awaited.remove(&key) {
            return;
        }
        match self.check(key, bytes) {
            Ok(payload) => {
                self.payloads.insert(key, payload);
            }
            Err(damage) => {
                self.damaged.insert(key, damage);
            }
        }
    }

    fn check(&self, key: Key, bytes: Option<&[u8]>) -> Result<(BlockKind, Vec<u8>), Damage> {
        let bytes = bytes.ok_or(Damage::Unreadable)?;
        let segment = self.segments.get(key.0.0 as usize).ok_or(Damage::Unreadable)?;
        let (header, payload) = open(bytes, &segment.id, key.1).map_err(Damage::Block)?;
        Ok((header.kind, payload.to_vec()))
    }

    pub(super) fn presence(&self, key: Key) -> Presence {
        if let Some(damage) = self.damaged.get(&key) {
            return Presence::Damaged(*damage);
        }
        if self.payloads.contains_key(&key) { Presence::Here } else { Presence::Missing }
    }

    /// Forgets every block that is not in `kept`.
    pub(super) fn keep_only(&mut self, kept: &BTreeSet<Key>) {
        self.payloads.retain(|key, _| kept.contains(key));
    }

    fn payload(&self, key: Key, kind: BlockKind) -> Result<&[u8], Damage> {
        match self.payloads.get(&key) {
            Some((found, payload)) if *found == kind => Ok(payload),
            Some(_) => Err(Damage::Kind),
            None => Err(Damage::Unreadable),
        }
    }

    /// Forgets every block of nodes.
    pub(super) fn forget_nodes(&mut self) {
        self.payloads.retain(|_, (kind, _)| *kind != BlockKind::Node);
    }

    /// The references of a node that is here.
    pub(super) fn node(&self, key: Key, reference: &Reference) -> Result<Vec<Reference>, Damage> {
        let payload = self.payload(key, BlockKind::Node)?;
        let node = node::decode(payload, reference.slot).map_err(Damage::Node)?;
        if node.series != reference.series || node.level != reference.level {
            return Err(Damage::Inconsistent);
        }
        check_children(reference, &node.references)?;
        Ok(node.references)
    }

    /// The rows of a chunk whose leaf is here.
    pub(super) fn rows(&self, key: Key, reference: &Reference) -> Result<OpenRows, Damage> {
        let leaf = Leaf::open(self.payload(key, BlockKind::Leaf)?).map_err(Damage::Leaf)?;
        let (entry, bytes) = leaf.chunk(reference.slot).map_err(Damage::Leaf)?;
        let summary = &reference.summary;
        let is_meant = entry.series == reference.series
            && entry.begin == summary.begin
            && entry.last.checked_add(1) == Some(summary.end)
            && u64::from(entry.rows) == summary.rows();
        if !is_meant {
            return Err(Damage::Inconsistent);
        }
        let mut chunk = Chunk::default();
        codec::decode(bytes, entry.rows, entry.begin, &mut chunk).map_err(Damage::Chunk)?;
        let rises = chunk.timestamps.is_sorted_by(|a, b| a < b);
        if !rises
            || chunk.timestamps.first() != Some(&entry.begin)
            || chunk.timestamps.last() != Some(&entry.last)
        {
            return Err(Damage::Inconsistent);
        }
        let left = 0..chunk.len();
        Ok(OpenRows { chunk, left })
    }
}
