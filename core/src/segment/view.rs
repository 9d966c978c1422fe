//! A look at an unsealed segment: roots over leaves on the device and over blocks that exist in memory only.
//!
//! Open nodes and rows in no leaf become blocks with virtual numbers, coded and sealed like any other, so
//! that a question has one code path. A view is a copy: the writer may go on.

use super::blocks::{BlockMap, Blocks};
use super::open_series::Filling;
use super::writer::Writer;
use crate::block::{BLOCK_LEN, Block, BlockKind, seal};
use crate::point::{TimeRange, ValueKind};
use crate::series::SeriesIndex;
use crate::tree::leaf::{LeafBuilder, SLOTS_MAX};
use crate::tree::{Reference, VIRTUAL_BLOCK_MIN};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Virtual blocks of some series of an unsealed segment.
#[derive(Clone, Debug)]
pub struct View {
    blocks: BlockMap,
    next_block: u32,
}

impl View {
    /// Nothing looked at.
    pub fn new() -> Self {
        Self { blocks: BlockMap::new(), next_block: VIRTUAL_BLOCK_MIN }
    }

    /// How many blocks are virtual.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether no block is virtual.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }
}

impl Default for View {
    fn default() -> Self {
        Self::new()
    }
}

impl Blocks for View {
    fn block(&self, number: u32) -> Option<&Block> {
        self.blocks.block(number)
    }
}

impl Writer {
    /// The root of a series over everything that was appended; its virtual blocks go into `view`.
    ///
    /// `None` where the series has no rows. Blocks that are not virtual are those of the segment's file, the ones
    /// not taken yet included.
    pub fn root(&mut self, index: SeriesIndex, view: &mut View) -> Option<Reference> {
        let laws = self.laws();
        let series = self.series.get(index.0 as usize)?;
        let mut open = series.open_copy(&mut self.shop);
        let mut chunks = Vec::new();
        let mut leaf = Box::<LeafBuilder<SLOTS_MAX>>::default();
        while open.is_open() {
            let placed = open.cut(&mut *leaf, Filling::Any, &laws, &mut self.shop);
            if placed.is_empty() {
                break;
            }
            let block = view.next_block;
            for chunk in placed {
                let (slot, summary) = (chunk.slot, chunk.summary);
                chunks.push(Reference { series: index.0, block, slot, level: 0, summary });
            }
            let mut bytes = Box::new([0; BLOCK_LEN]);
            let payload_len = leaf.finish(&mut bytes);
            self.put_virtual(view, bytes, BlockKind::Leaf, payload_len);
        }
        let tree = self.series.get(index.0 as usize)?.extent.build(&chunks, view.next_block, &laws);
        for node in tree.nodes {
            self.put_virtual(view, node.block, BlockKind::Node, node.payload_len);
        }
        tree.root
    }

    /// The series with rows: index, name, kind, unit and span.
    pub fn series_with_rows(&self) -> impl Iterator<Item = (SeriesIndex, &str, ValueKind, &str, TimeRange)> {
        (0..self.series_count()).filter_map(|index| {
            let (name, kind, unit) = self.series(SeriesIndex(index))?;
            Some((SeriesIndex(index), name.as_str(), kind, unit, self.span_of(index)?))
        })
    }

    fn put_virtual(&self, view: &mut View, mut bytes: Box<Block>, kind: BlockKind, payload_len: u16) {
        let header = self.block_header(kind, payload_len, view.next_block, 0);
        seal(&mut bytes, &header, &self.header.id.device);
        view.blocks.put(view.next_block, bytes);
        view.next_block = view.next_block.saturating_add(1);
    }
}
