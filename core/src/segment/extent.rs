//! The inner nodes of one series while its segment is open: in memory, column-coded, and finished at
//! the seal.
//!
//! References to chunks come in time order. As many as fill a node are coded into its payload at once;
//! the rest wait, column-coded as well, because a plain one takes 336 bytes and most series of a segment
//! with many have one or two. The levels above are small and built when somebody needs them: at the seal with
//! the numbers of their blocks to be, for a question with virtual ones.

use super::waiting::{GROUP, Waiting};
use crate::block::{BLOCK_LEN, Block, HEADER_LEN};
use crate::tree::node::{self, FAN_OUT_MAX, LEVELS_MAX};
use crate::tree::{Laws, Reference, Summary};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// So many chunks are named by the roots section itself, without a node of 4 KiB over them.
const ROOTS_MAX: usize = 16;

/// A node of level 1 that is full.
#[derive(Clone, Debug)]
struct FullNode {
    payload: Box<[u8]>,
    summary: Summary,
}

/// The nodes of a series.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    series: u32,
    full: Vec<FullNode>,
    waiting: Waiting,
    rows: u64,
}

/// One node of the finished tree.
#[derive(Clone, Debug)]
pub(super) struct BuiltNode {
    /// Its block, with the payload in place; the header is still to be sealed.
    pub block: Box<Block>,
    /// Bytes of the payload.
    pub payload_len: u16,
}

/// A finished tree: a root, and the nodes below it, the highest level first.
#[derive(Clone, Debug)]
pub(super) struct BuiltTree {
    /// What names the whole series; `None` where there are no rows.
    pub root: Option<Reference>,
    /// Nodes with consecutive block numbers, from the first that was given on.
    pub nodes: Vec<BuiltNode>,
}

impl Extent {
    pub(super) fn new(series: u32) -> Self {
        Self { series, full: Vec::new(), waiting: Waiting::default(), rows: 0 }
    }

    /// Rows below all references.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes of memory beyond its own.
    pub(super) fn heap_len(&self) -> usize {
        let full: usize = self.full.iter().map(|node| node.payload.len() + size_of::<FullNode>()).sum();
        full + self.waiting.heap_len()
    }

    /// Takes the reference of the next chunk.
    pub(super) fn push(&mut self, reference: Reference, laws: &Laws) {
        self.rows = self.rows.saturating_add(reference.summary.rows());
        self.waiting.push(reference);
        // Asked now and then only: it means to code them all.
        if self.waiting.len().is_multiple_of(GROUP) {
            let waiting = self.waiting.references(self.series);
            let count = node::fit(&waiting);
            if count < waiting.len() {
                self.close(&waiting, count, laws);
            }
        }
    }

    fn close(&mut self, waiting: &[Reference], count: usize, laws: &Laws) {
        let mut block = [0; BLOCK_LEN];
        let Some((some, rest)) = waiting.split_at_checked(count) else { return };
        if let Some(len) = node::encode(some, self.series, 1, &mut block) {
            let payload = payload_of(&block, len);
            self.full.push(FullNode { payload, summary: node::summary_of(some, laws) });
            self.waiting = Waiting::default();
            rest.iter().for_each(|reference| self.waiting.push(*reference));
        }
    }

    /// The chunks of a series that has few of them: they need no node.
    pub(super) fn few(&self) -> Option<Vec<Reference>> {
        self.up_to(ROOTS_MAX).filter(|few| !few.is_empty())
    }

    /// All chunks, where there are no more than `count`.
    pub(super) fn up_to(&self, count: usize) -> Option<Vec<Reference>> {
        let is_few = self.full.is_empty() && self.waiting.len() <= count;
        is_few.then(|| self.waiting.references(self.series))
    }

    /// The payload and the summary of the only node, where one holds all chunks.
    pub(super) fn single(&self, laws: &Laws) -> Option<(Box<[u8]>, Summary)> {
        match self.full.as_slice() {
            [] if self.waiting.len() > 0 => {
                let waiting = self.waiting.references(self.series);
                let mut block = [0; BLOCK_LEN];
                let len = node::encode(&waiting, self.series, 1, &mut block)?;
                Some((payload_of(&block, len), node::summary_of(&waiting, laws)))
            }
            [only] if self.waiting.len() == 0 => Some((only.payload.clone(), only.summary)),
            _ => None,
        }
    }

    /// The whole tree over the references so far and `more`, with node blocks numbered from `first_block` on.
    pub(super) fn build(&self, more: &[Reference], first_block: u32, laws: &Laws) -> BuiltTree {
        let mut chunks = self.waiting.references(self.series);
        chunks.extend_from_slice(more);
        if self.full.is_empty() && chunks.len() <= 1 {
            return BuiltTree { root: chunks.first().copied(), nodes: Vec::new() };
        }
        // Level 1 first, to know how many nodes there are; numbers are given from the top down.
        let mut levels = vec![self.first_level(&chunks, laws)];
        while levels.last().is_some_and(|level| level.len() > 1) && levels.len() < usize::from(LEVELS_MAX) {
            let level = levels.len() as u8 + 1;
            // The widest numbers, so that the true ones fit as well.
            let below = levels
                .last()
                .map(|nodes| self.references(nodes, level - 1, u32::MAX / 2))
                .unwrap_or_default();
            levels.push(parts(&below, laws));
        }
        self.number(levels, first_block, laws)
    }

    /// Drafts of level 1: the full nodes as they are, and the open references.
    fn first_level(&self, chunks: &[Reference], laws: &Laws) -> Vec<Draft> {
        let mut drafts: Vec<Draft> = self
            .full
            .iter()
            .map(|node| Draft {
                payload: Some(node.payload.clone()),
                children: Vec::new(),
                summary: node.summary,
            })
            .collect();
        drafts.extend(parts(chunks, laws));
        drafts
    }

    /// References to the nodes of a level whose first has number `first`.
    fn references(&self, nodes: &[Draft], level: u8, first: u32) -> Vec<Reference> {
        nodes
            .iter()
            .zip(first..)
            .map(|(node, block)| Reference {
                series: self.series,
                block,
                slot: 0,
                level,
                summary: node.summary,
            })
            .collect()
    }

    fn number(&self, levels: Vec<Vec<Draft>>, first_block: u32, laws: &Laws) -> BuiltTree {
        let mut next = first_block;
        let mut firsts = Vec::with_capacity(levels.len());
        for level in levels.iter().rev() {
            firsts.push(next);
            next = next.saturating_add(level.len() as u32);
        }
        firsts.reverse();
        let mut built: Vec<Vec<BuiltNode>> = Vec::with_capacity(levels.len());
        let mut below: Vec<Reference> = Vec::new();
        for (at, (drafts, first)) in levels.iter().zip(&firsts).enumerate() {
            let level = at as u8 + 1;
            let mut taken = 0;
            let nodes = drafts.iter().map(|draft| {
                let mut children: &[Reference] = &draft.children;
                if level > 1 {
                    let count = draft.children.len();
                    children = below.get(taken..taken + count).unwrap_or(&[]);
                    taken += count;
                }
                self.finish(draft, children, level)
            });
            built.push(nodes.collect());
            below = self.references(drafts, level, *first);
        }
        let root = below
            .iter()
            .copied()
            .reduce(|a, b| Reference { summary: a.summary.combine(&b.summary, laws), ..a });
        BuiltTree { root, nodes: built.into_iter().rev().flatten().collect() }
    }

    fn finish(&self, draft: &Draft, children: &[Reference], level: u8) -> BuiltNode {
        let mut block = Box::new([0; BLOCK_LEN]);
        let payload_len = match &draft.payload {
            Some(payload) => {
                block[HEADER_LEN..HEADER_LEN + payload.len()].copy_from_slice(payload);
                payload.len() as u16
            }
            None => node::encode(children, self.series, level, &mut block).unwrap_or(0),
        };
        BuiltNode { block, payload_len }
    }
}

fn payload_of(block: &Block, len: u16) -> Box<[u8]> {
    block[HEADER_LEN..HEADER_LEN + usize::from(len)].into()
}

/// A node that is to be: coded already, or the references that go in.
struct Draft {
    payload: Option<Box<[u8]>>,
    children: Vec<Reference>,
    summary: Summary,
}

/// `references` in as few nodes as hold them.
fn parts(references: &[Reference], laws: &Laws) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let mut rest = references;
    while !rest.is_empty() {
        let count = node::fit(rest).clamp(1, FAN_OUT_MAX);
        let (some, behind) = rest.split_at_checked(count).unwrap_or((rest, &[]));
        drafts.push(Draft { payload: None, children: some.to_vec(), summary: node::summary_of(some, laws) });
        rest = behind;
    }
    drafts
}
