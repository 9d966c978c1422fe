//! A look at an unsealed segment: roots over leaves on the device and over blocks that exist in memory only.
//!
//! Open nodes and rows in no leaf become blocks with virtual numbers, coded and sealed like any other, so
//! that a question has one code path. Series with few rows share a leaf, and few chunks need no node, so that a
//! look at many series takes little more than their rows. A view is a copy: the writer may go on.

use super::blocks::{BlockMap, Blocks};
use super::open_series::{Filling, PlacedChunk};
use super::writer::Writer;
use crate::block::{BLOCK_LEN, Block, BlockKind, seal};
use crate::point::{TimeRange, ValueKind};
use crate::series::SeriesIndex;
use crate::tree::leaf::{LeafBuilder, SLOTS_MAX};
use crate::tree::{Reference, VIRTUAL_BLOCK_MIN};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// So many chunks are named without a node over them: as plain references they take no more memory than it.
const CHUNKS_MAX: usize = 8;

/// Virtual blocks of some series of an unsealed segment.
#[derive(Clone, Debug)]
pub struct View {
    blocks: BlockMap,
    next_block: u32,
    /// The leaf that is being filled, and its number.
    leaf: Option<(u32, Box<LeafBuilder<SLOTS_MAX>>)>,
}

impl View {
    /// Nothing looked at.
    pub fn new() -> Self {
        Self { blocks: BlockMap::new(), next_block: VIRTUAL_BLOCK_MIN, leaf: None }
    }

    /// The next number.
    fn number(&mut self) -> u32 {
        let number = self.next_block;
        self.next_block = self.next_block.saturating_add(1);
        number
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
    /// What names all rows of a series, in the order of time: few chunks, or one root. None where it has no rows.
    ///
    /// Its virtual blocks go into `view`, where the last ones are only after [`Self::end_view`]. Blocks that are
    /// not virtual are those of the segment's file, the ones not taken yet included.
    pub fn look(&mut self, index: SeriesIndex, view: &mut View) -> Vec<Reference> {
        let laws = self.laws();
        let Some(series) = self.series.get(index.0 as usize) else { return Vec::new() };
        let mut open = series.open_copy(&mut self.shop);
        let mut chunks = Vec::new();
        while open.is_open() {
            let (block, mut leaf) = view.leaf.take().unwrap_or_else(|| (view.number(), Box::default()));
            for PlacedChunk { slot, summary } in open.cut(&mut *leaf, Filling::Any, &laws, &mut self.shop) {
                chunks.push(Reference { series: index.0, block, slot, level: 0, summary });
            }
            if leaf.is_empty() {
                break;
            }
            view.leaf = Some((block, leaf));
            if open.is_open() {
                self.end_view(view);
            }
        }
        let Some(series) = self.series.get(index.0 as usize) else { return Vec::new() };
        if let Some(mut few) = series.extent.up_to(CHUNKS_MAX.saturating_sub(chunks.len())) {
            few.extend(chunks);
            return few;
        }
        let tree = series.extent.build(&chunks, view.next_block, &laws);
        for node in tree.nodes {
            let number = view.number();
            self.put_virtual(view, number, node.block, BlockKind::Node, node.payload_len);
        }
        tree.root.into_iter().collect()
    }

    /// Makes a block of the leaf that is being filled.
    pub fn end_view(&self, view: &mut View) {
        if let Some((number, mut leaf)) = view.leaf.take() {
            let mut bytes = Box::new([0; BLOCK_LEN]);
            let payload_len = leaf.finish(&mut bytes);
            self.put_virtual(view, number, bytes, BlockKind::Leaf, payload_len);
        }
    }

    /// The series with rows: index, name, kind, unit and span.
    pub fn series_with_rows(&self) -> impl Iterator<Item = (SeriesIndex, &str, ValueKind, &str, TimeRange)> {
        (0..self.series_count()).filter_map(|index| {
            let (name, kind, unit) = self.series(SeriesIndex(index))?;
            Some((SeriesIndex(index), name.as_str(), kind, unit, self.span_of(index)?))
        })
    }

    fn put_virtual(
        &self,
        view: &mut View,
        number: u32,
        mut bytes: Box<Block>,
        kind: BlockKind,
        payload_len: u16,
    ) {
        let header = self.block_header(kind, payload_len, number, 0);
        seal(&mut bytes, &header, &self.header.id.device);
        view.blocks.put(number, bytes);
    }
}
