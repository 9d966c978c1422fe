//! The rows of one series in one input, in the order of time, without those that are hidden.

use alloc::vec::Vec;

use super::input::{BlockSource, Damaged};
use crate::block::BlockKind;
use crate::codec::{self, Chunk};
use crate::point::{TimeRange, Value};
use crate::store::device::Device;
use crate::tree::leaf::Leaf;
use crate::tree::{Reference, node};

/// What is left of a series in an input.
#[derive(Debug)]
pub(super) struct SeriesRows {
    /// References that were not opened, the next one last.
    stack: Vec<Reference>,
    /// Spans in which nothing counts.
    hidden: Vec<TimeRange>,
    chunk: Chunk,
    row: usize,
}

impl SeriesRows {
    /// All rows below `roots`, which are in the order of time, but those in `hidden`.
    pub(super) fn new(roots: Vec<Reference>, hidden: Vec<TimeRange>) -> Self {
        let mut stack = roots;
        stack.retain(|root| root.summary.rows() > 0);
        stack.reverse();
        Self { stack, hidden, chunk: Chunk::default(), row: 0 }
    }

    /// The time of the next row, for which blocks may have to be read.
    pub(super) fn peek<D: Device>(&mut self, blocks: &mut BlockSource<D>) -> Result<Option<i64>, Damaged> {
        loop {
            while let Some(at) = self.chunk.timestamps.get(self.row).copied() {
                if !self.hidden.iter().any(|span| span.contains(at)) {
                    return Ok(Some(at));
                }
                self.row += 1;
            }
            let Some(reference) = self.stack.pop() else { return Ok(None) };
            if !self.hidden.iter().any(|span| span.covers(reference.summary.span())) {
                self.open(&reference, blocks)?;
            }
        }
    }

    /// The value of the row that [`Self::peek`] found.
    pub(super) fn value(&self) -> Option<Value<'_>> {
        self.chunk.value(self.row)
    }

    /// Goes behind the row that [`Self::peek`] found.
    pub(super) fn advance(&mut self) {
        self.row += 1;
    }

    fn open<D: Device>(&mut self, reference: &Reference, blocks: &mut BlockSource<D>) -> Result<(), Damaged> {
        let (header, payload) = blocks.open(reference.block)?;
        if reference.level > 0 {
            let node = node::decode(payload, reference.slot).map_err(|_| Damaged)?;
            // Levels fall by one, so that no cycle of references can keep a merge from ending.
            if header.kind != BlockKind::Node || node.level != reference.level {
                return Err(Damaged);
            }
            self.stack.extend(node.references.into_iter().rev());
            return Ok(());
        }
        if header.kind != BlockKind::Leaf {
            return Err(Damaged);
        }
        let leaf = Leaf::open(payload).map_err(|_| Damaged)?;
        let (entry, bytes) = leaf.chunk(reference.slot).map_err(|_| Damaged)?;
        codec::decode(bytes, entry.rows, entry.begin, &mut self.chunk).map_err(|_| Damaged)?;
        self.row = 0;
        Ok(())
    }
}
