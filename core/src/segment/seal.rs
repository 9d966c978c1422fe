//! Sealing: everything in memory becomes leaves, inner nodes and the tail, and the writer takes no more.
//!
//! Inner nodes stand series by series in the order of names, so that a chart is a few long reads, first those that
//! share blocks; the tail is one byte stream with the footer at its end. `docs/format.md`, chapters 3 and 11.

use super::extent::Extent;
use super::footer::{Footer, Section, SectionKind};
use super::header::SegmentKind;
use super::heads::HEADS_VERSION;
use super::roots;
use super::shared_nodes::SharedNodes;
use super::supersedes::{SUPERSEDES_VERSION, Supersedes};
use super::tail::TailWriter;
use super::writer::Writer;
use crate::block::BlockKind;
use crate::index::{BuildError, CATALOG_VERSION, CatalogWriter, INDEX_VERSION, write_index};
use crate::point::TimeRange;
use crate::tree::Reference;
use alloc::vec::Vec;

impl Writer {
    /// Seals the segment; the last blocks are finished and the writer takes no further point.
    ///
    /// # Errors
    /// A catalog beyond its limits; nothing is lost, the segment stays readable unsealed.
    pub fn seal(&mut self) -> Result<(), BuildError> {
        if self.sealed {
            return Ok(());
        }
        self.flush();
        if self.header.kind == SegmentKind::Tombstones {
            // No leaf needs them: they are the second copy of what the tail says.
            self.write_definitions();
        }
        let order = self.name_order();
        let catalog = self.catalog(&order)?;
        let index = write_index(
            order.iter().filter_map(|i| self.defined.get(*i as usize)).map(|d| d.name.name_ref()),
        )?;
        let heads = self.heads_section(&order);
        let (roots, node_block) = self.write_nodes(&order);
        let mut tail = TailWriter::new(self.block_count());
        let mut sections = heapless::Vec::new();
        let supersedes = &self.supersedes;
        let is_merged = *supersedes != Supersedes::default();
        let parts = [
            (SectionKind::Catalog, CATALOG_VERSION, Some(catalog)),
            (SectionKind::Index, INDEX_VERSION, Some(index)),
            (SectionKind::Roots, roots::ROOTS_VERSION, Some(roots::encode(&roots))),
            (SectionKind::Supersedes, SUPERSEDES_VERSION, is_merged.then(|| supersedes.encode())),
            (SectionKind::Heads, HEADS_VERSION, heads),
        ];
        for (kind, version, bytes) in parts {
            let Some(bytes) = bytes else { continue };
            let begin = tail.len();
            tail.put(&bytes);
            // There is room for many more sections than there are.
            let _ = sections.push(Section { kind: kind as u16, version, begin, end: tail.len() });
        }
        let footer = Footer {
            header: *self.header(),
            tail_block: self.block_count(),
            node_block,
            rows: self.rows_in_leaves(),
            span: self.span(),
            sections,
        };
        for (block, payload_len) in tail.finish(&footer) {
            self.finish(block, BlockKind::Tail, payload_len, 0);
        }
        self.sealed = true;
        Ok(())
    }

    /// Whether the segment is sealed.
    pub fn is_sealed(&self) -> bool {
        self.sealed
    }

    /// The span of all rows, empty where there are none; of tombstones what was deleted.
    pub fn span(&self) -> TimeRange {
        if self.header.kind == SegmentKind::Tombstones {
            return self.header.partition;
        }
        let spans = (0..self.series_count()).filter_map(|index| self.span_of(index));
        spans
            .reduce(|a, b| TimeRange::new(a.begin.min(b.begin), a.end.max(b.end)))
            .unwrap_or(TimeRange::new(0, 0))
    }

    /// Series indices in the order of names.
    pub(super) fn name_order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.series_count()).collect();
        order.sort_by(|a, b| {
            let name = |index: &u32| self.defined.get(*index as usize).map(|defined| &defined.name);
            name(a).cmp(&name(b))
        });
        order
    }

    fn catalog(&self, order: &[u32]) -> Result<Vec<u8>, BuildError> {
        let mut catalog = CatalogWriter::new();
        for defined in order.iter().filter_map(|index| self.defined.get(*index as usize)) {
            catalog.push(defined.name.name_ref(), defined.kind, &defined.unit)?;
        }
        catalog.finish()
    }

    /// Writes the inner nodes; gives the roots of each series and the first node's block, 0 where there is none.
    fn write_nodes(&mut self, order: &[u32]) -> (Vec<Vec<Reference>>, u32) {
        let laws = self.laws();
        let first = self.block_count();
        let mut roots: Vec<Vec<Reference>> = Vec::with_capacity(order.len());
        let mut shared = SharedNodes::default();
        for index in order {
            let extent = self.series.get(*index as usize).map(|series| &series.extent);
            if let Some(few) = extent.and_then(Extent::few) {
                roots.push(few);
                continue;
            }
            let single = extent.and_then(|extent| extent.single(&laws));
            let root = single.map(|(payload, summary)| {
                let (block, slot) = self.share(&mut shared, &payload);
                Reference { series: *index, block, slot, level: 1, summary }
            });
            roots.push(root.into_iter().collect());
        }
        self.finish_shared(&mut shared);
        // Of several nodes each has a block for itself: a parent is coded with the places of its children, behind it.
        for (index, roots) in order.iter().zip(&mut roots).filter(|(_, roots)| roots.is_empty()) {
            let Some(series) = self.series.get(*index as usize) else { continue };
            let tree = series.extent.build(&[], self.block_count(), &laws);
            for node in tree.nodes {
                self.finish(node.block, BlockKind::Node, node.payload_len, 0);
            }
            roots.push(tree.root.unwrap_or(Self::no_rows(*index)));
        }
        let node_block = if self.block_count() > first { first } else { 0 };
        (roots, node_block)
    }

    /// Puts a node's payload into the shared block, or where that is full into the next one: its place.
    fn share(&mut self, shared: &mut SharedNodes, payload: &[u8]) -> (u32, u16) {
        let slot = shared.put(payload).or_else(|| {
            self.finish_shared(shared);
            shared.put(payload)
        });
        // One node fits a block.
        (self.block_count(), slot.unwrap_or(0))
    }

    fn finish_shared(&mut self, shared: &mut SharedNodes) {
        if let Some(SharedNodes { block, payload_len }) = shared.take() {
            self.finish(block, BlockKind::Node, payload_len, 0);
        }
    }
}
