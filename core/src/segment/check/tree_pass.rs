//! Roots and inner nodes from the top down, and what names chunks against the chunks.
//!
//! The first pass sees every node once and keeps where the references to chunks stand (the *holders*) and which
//! blocks they name; each window over the leaves is then compared with the holders that reach into it.

use super::facts::Facts;
use super::fault::What;
use super::machine::{Check, Phase, Wanted};
use crate::block::{BlockKind, open};
use crate::index::Lookup;
use crate::segment::blocks::Answer;
use crate::segment::error::SegmentError;
use crate::segment::footer::SectionKind;
use crate::segment::roots::{self, ROOTS_VERSION};
use crate::tree::node::{self, Node};
use crate::tree::{Laws, Reference};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// Roots that are read at a time.
const LOT: u32 = 64;

/// Where references to chunks stand.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In a node of level 1.
    Node { block: u32, slot: u16, series: u32 },
    /// Among the roots from this catalog position on.
    Roots(u32),
}

/// Some references to chunks, and the blocks they name.
#[derive(Clone, Copy, Debug)]
struct Holder {
    place: Place,
    first_block: u32,
    last_block: u32,
}

/// What is known of the inner nodes.
#[derive(Debug)]
pub(super) struct Tree {
    /// Nodes that are named and not looked at yet.
    open: Vec<Reference>,
    holders: Vec<Holder>,
    seen: BTreeSet<(u32, u16)>,
    /// Whether all roots and nodes could be read.
    pub is_whole: bool,
}

impl Default for Tree {
    fn default() -> Self {
        Self { open: Vec::new(), holders: Vec::new(), seen: BTreeSet::new(), is_whole: true }
    }
}

impl Check {
    /// The next node, or the next roots.
    pub(super) fn tree_step(&mut self, position: u32) -> Result<(), Wanted> {
        if let Some(reference) = self.tree.open.last().copied() {
            let children = self.children(&reference)?;
            self.tree.open.pop();
            if let Some(children) = children {
                self.take_children(&reference, children);
            }
            return Ok(());
        }
        match self.roots(position)? {
            Some(roots) if !roots.is_empty() => {
                self.take_roots(position, &roots);
                self.phase = Phase::Tree(position.saturating_add(roots.len() as u32));
            }
            Some(_) => self.phase = Phase::Blocks,
            None => {
                self.tree.is_whole = false;
                self.phase = Phase::Blocks;
            }
        }
        Ok(())
    }

    /// The roots of the series from catalog position `position` on, at most a lot; `None` where they can't be read.
    pub(super) fn roots(&mut self, position: u32) -> Result<Option<Vec<Vec<Reference>>>, Wanted> {
        let Some(sealed) = self.sealed.as_deref() else { return Ok(None) };
        let stream = sealed.stream(&self.blocks);
        let read = sealed.range(SectionKind::Roots, ROOTS_VERSION).and_then(|section| {
            let count = match roots::series_count(&stream, &section)? {
                Lookup::Found(count) => count,
                Lookup::Need(need) => return Ok(Lookup::Need(need)),
            };
            let end = position.saturating_add(LOT).min(count);
            let positions: Vec<u32> = (position..end).collect();
            roots::read(&stream, &section, &positions)
        });
        let asked = match read {
            Ok(Lookup::Found(roots)) => return Ok(Some(roots)),
            Ok(Lookup::Need(need)) => sealed.need(&stream, &need),
            Err(error) => Err(error),
        };
        self.want(asked)
    }

    /// Asks for blocks of the tail, or says what is wrong with it.
    pub(super) fn want<T>(&mut self, asked: Result<Answer<T>, SegmentError>) -> Result<Option<T>, Wanted> {
        match asked {
            Ok(Answer::Ready(answer)) => Ok(Some(answer)),
            Ok(Answer::Need(need)) => match need.into_iter().next() {
                Some(range) if range.start < self.block_count => Err(Wanted(range)),
                _ => Ok(None),
            },
            Err(error) => {
                // A bad block of the tail is named when all blocks are looked at.
                if !matches!(error, SegmentError::Block { .. }) {
                    self.fault(None, What::Segment(error));
                }
                Ok(None)
            }
        }
    }

    fn take_roots(&mut self, position: u32, series: &[Vec<Reference>]) {
        let mut holder = Holder { place: Place::Roots(position), first_block: u32::MAX, last_block: 0 };
        for roots in series {
            let with_rows = roots.iter().filter(|root| root.block > 0);
            let rows = with_rows.map(|root| root.summary.rows()).sum();
            let Some(number) = roots.first().map(|root| root.series) else { continue };
            let is_in_order = roots.is_sorted_by(|a, b| a.summary.end <= b.summary.begin);
            let wrong = match self.tallies.of(number) {
                Some(tally) if tally.in_root.is_some() => Some("it stands twice among the roots"),
                Some(tally) => {
                    tally.in_root = Some(rows);
                    (!is_in_order).then_some("its roots are not in the order of time")
                }
                None => None,
            };
            if let Some(what) = wrong {
                self.fault(None, What::Series { series: number, what });
            }
        }
        for root in series.iter().flatten().filter(|root| root.block > 0) {
            if root.level == 0 {
                holder.first_block = holder.first_block.min(root.block);
                holder.last_block = holder.last_block.max(root.block);
            } else {
                self.tree.open.push(*root);
            }
        }
        if holder.first_block <= holder.last_block {
            self.tree.holders.push(holder);
        }
    }

    /// What the node that `reference` names holds; `None`, and a fault, where it is not that node.
    fn children(&mut self, reference: &Reference) -> Result<Option<Vec<Reference>>, Wanted> {
        let number = reference.block;
        let lost = |check: &mut Self, block: Option<u32>, what| {
            check.fault(block, what);
            check.tree.is_whole = false;
            Ok(None)
        };
        let series = reference.series;
        if number >= self.block_count {
            return lost(
                self,
                None,
                What::Series { series, what: "a node beyond the end of the file is named" },
            );
        }
        if self.tree.seen.contains(&(number, reference.slot)) {
            return lost(self, Some(number), What::Series { series, what: "a node is named twice" });
        }
        let block = self.block(number, 1)?;
        self.tree.seen.insert((number, reference.slot));
        let Some(id) = self.header.map(|header| header.id) else { return Ok(None) };
        let Ok((header, payload)) = open(&block, &id, number) else {
            // Said when all blocks are looked at.
            self.tree.is_whole = false;
            return Ok(None);
        };
        if header.kind != BlockKind::Node {
            return lost(self, Some(number), What::Series { series, what: "no node where one is named" });
        }
        let is_it =
            |node: &Result<(u16, Node), _>| !node.as_ref().is_ok_and(|(slot, _)| *slot != reference.slot);
        let node = match node::all(payload).find(is_it) {
            Some(Ok((_, node))) => node,
            Some(Err(_)) => {
                self.tree.is_whole = false;
                return Ok(None);
            }
            None => {
                let what = "no node begins where one is named";
                return lost(self, Some(number), What::Series { series, what });
            }
        };
        if (node.series, node.level) != (reference.series, reference.level) {
            let what = "a node of another series or level than is named";
            return lost(self, Some(number), What::Series { series, what });
        }
        Ok(Some(node.references))
    }

    fn take_children(&mut self, reference: &Reference, children: Vec<Reference>) {
        let series = reference.series;
        if !children.is_sorted_by(|a, b| a.summary.end <= b.summary.begin) {
            let what = "the references of a node don't rise in time";
            self.fault(Some(reference.block), What::Series { series, what });
        }
        let laws = Laws { max_hold_ns: self.header.map_or(0, |header| header.max_hold_ns) };
        let below = Facts::of(&node::summary_of(&children, &laws));
        if !below.agrees(&Facts::of(&reference.summary)) {
            self.fault(Some(reference.block), What::Summary { series, level: reference.level });
        }
        if reference.level > 1 {
            self.tree.open.extend(children.into_iter().rev());
            return;
        }
        let blocks = || children.iter().map(|child| child.block);
        if let (Some(first_block), Some(last_block)) = (blocks().min(), blocks().max()) {
            let place = Place::Node { block: reference.block, slot: reference.slot, series };
            self.tree.holders.push(Holder { place, first_block, last_block });
        }
    }

    /// One holder against the window; behind the last, what nothing named.
    pub(super) fn compare_step(&mut self, at: usize) -> Result<(), Wanted> {
        let blocks = self.window.first_block..self.next_block;
        let Some(holder) = self.tree.holders.get(at).copied() else {
            self.compare_rest();
            return Ok(());
        };
        if holder.last_block >= blocks.start && holder.first_block < blocks.end {
            let (references, block) = match holder.place {
                Place::Roots(position) => (self.roots(position)?.unwrap_or_default().concat(), None),
                Place::Node { block, slot, series } => {
                    let bytes = self.block(block, 1)?;
                    let Some(id) = self.header.map(|header| header.id) else { return Ok(()) };
                    let opened = open(&bytes, &id, block).ok();
                    let payload = opened.map(|(_, payload)| payload).unwrap_or_default();
                    let node = node::decode(payload, slot).ok().filter(|node| node.series == series);
                    (node.map(|node| node.references).unwrap_or_default(), Some(block))
                }
            };
            let of_chunks = references.iter().filter(|reference| reference.level == 0);
            for reference in
                of_chunks.filter(|reference| blocks.contains(&reference.block) && reference.block > 0)
            {
                self.compare(reference, block);
            }
        }
        self.phase = Phase::Compare(at.saturating_add(1));
        Ok(())
    }

    fn compare(&mut self, reference: &Reference, holder: Option<u32>) {
        let series = reference.series;
        let is_lost = self.window.is_lost(reference.block);
        let what = match self.window.find(reference.block, reference.slot) {
            Some(chunk) if chunk.series != series => {
                Some(What::Series { series, what: "a chunk of another series is named" })
            }
            Some(chunk) if chunk.is_named => Some(What::Series { series, what: "a chunk is named twice" }),
            Some(chunk) => {
                chunk.is_named = true;
                let agrees = chunk.facts.is_none_or(|facts| facts.agrees(&Facts::of(&reference.summary)));
                (!agrees).then_some(What::Summary { series, level: 0 })
            }
            None if is_lost => None,
            None => Some(What::Series { series, what: "a chunk that is not there is named" }),
        };
        if let Some(what) = what {
            self.fault(holder, what);
        }
    }

    /// Chunks that nothing named; then the next window, or the names.
    fn compare_rest(&mut self) {
        let mut from = 0;
        while let Some((next, chunk)) = self.window.unnamed(from).filter(|_| self.is_tree_complete()) {
            from = next;
            self.fault(Some(chunk.block), What::Chunk { slot: chunk.slot, what: "nothing names it" });
        }
        let next = self.next_block;
        self.window.restart(next);
        self.phase = match (next < self.block_count, self.sealed.is_some()) {
            (true, _) => Phase::Blocks,
            (false, true) => Phase::Sections,
            (false, false) => Phase::Done,
        };
    }

    /// Whether a chunk that nothing names is a fault of its own.
    fn is_tree_complete(&self) -> bool {
        self.sealed.is_some() && self.tree.is_whole
    }
}
