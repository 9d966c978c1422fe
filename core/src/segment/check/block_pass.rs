//! Every block in the order of the file: its place, its kind, its epoch, and what is in it.

use super::chunks::KnownChunk;
use super::facts::Facts;
use super::fault::What;
use super::machine::{Check, Phase, Wanted};
use super::tallies::definition_hash;
use crate::block::{Block, BlockError, BlockKind, get_u32, open};
use crate::codec::{self, Chunk};
use crate::point::TimeRange;
use crate::segment::{definition, log};
use crate::series::is_canonical;
use crate::tree::leaf::{Entry, Leaf};
use crate::tree::{Laws, node, summarize};
use alloc::vec::Vec;

/// Blocks that are read ahead.
const AHEAD: u32 = 64;

impl Check {
    /// Takes the next block, or goes over to comparing where the window is full or the file over.
    pub(super) fn block_step(&mut self) -> Result<(), Wanted> {
        let number = self.next_block;
        if number >= self.block_count {
            self.phase = Phase::Compare(0);
            return Ok(());
        }
        if self.window.is_full() {
            if self.sealed.is_some() {
                self.phase = Phase::Compare(0);
                return Ok(());
            }
            self.window.forget_half();
        }
        let block = self.block(number, AHEAD)?;
        self.take(number, &block);
        self.next_block = number.saturating_add(1);
        self.report.blocks = self.report.blocks.saturating_add(1);
        Ok(())
    }

    fn take(&mut self, number: u32, block: &Block) {
        let Some(id) = self.header.map(|header| header.id) else { return };
        let (header, payload) = match open(block, &id, number) {
            Ok(opened) => opened,
            Err(BlockError::Empty) => {
                self.hole.get_or_insert(number);
                if self.sealed.is_some() {
                    self.lose(number, What::Block(BlockError::Empty));
                }
                return;
            }
            // Behind blocks that were never written a file without a footer may hold anything.
            Err(_) if self.sealed.is_none() && self.hole.is_some() => return,
            Err(_) if number == 0 => return self.is_block_lost = true,
            Err(error) => return self.lose(number, What::Block(error)),
        };
        if header.write_epoch < self.write_epoch {
            // Left over from before a power cut, behind what was never written again.
            if self.sealed.is_some() || self.hole.is_none() {
                self.lose(number, What::Stale);
            }
            return;
        }
        if let Some(hole) = self.hole.take()
            && self.sealed.is_none()
        {
            self.lose(hole, What::Hole);
        }
        self.write_epoch = header.write_epoch;
        match header.kind {
            BlockKind::Header if number == 0 => {}
            BlockKind::Definitions => self.take_definitions(number, payload),
            BlockKind::Leaf => self.take_leaf(number, payload),
            BlockKind::Node => {
                if node::all(payload).any(|node| node.is_err()) {
                    self.lose(number, What::Payload("node"));
                }
            }
            BlockKind::ReferenceLog => self.take_log(number, payload),
            BlockKind::Tail => {}
            kind => self.lose(number, What::Kind(kind)),
        }
        if let Some(footer) = self.sealed.as_deref().map(crate::segment::Sealed::footer) {
            let is_wrong = (number >= footer.tail_block && header.kind != BlockKind::Tail)
                || (number == footer.node_block && number > 0 && header.kind != BlockKind::Node);
            if is_wrong {
                self.lose(number, What::Kind(header.kind));
            }
        }
    }

    /// Notes a fault that costs what the block holds.
    fn lose(&mut self, number: u32, what: What) {
        self.fault(Some(number), what);
        self.is_block_lost = true;
        self.is_definition_lost = true;
        if self.window.lost.last().is_none_or(|last| *last < number) {
            self.window.lost.push(number);
        }
    }

    fn take_definitions(&mut self, number: u32, payload: &[u8]) {
        let mut wrong = None;
        let mut next = self.defined;
        let (tallies, is_lost) = (&mut self.tallies, self.is_definition_lost);
        let decoded = definition::decode(payload, number, |index, defined| {
            if is_canonical(defined.name).is_err() {
                wrong = Some("name of a series");
            } else if index < next || (index > next && !is_lost) {
                wrong = Some("series index: definitions are not dense");
            } else if let Some(tally) = tallies.of(index) {
                tally.definition = Some(definition_hash(defined.name, defined.kind.code(), defined.unit));
            }
            next = index.saturating_add(1);
        });
        self.defined = next.max(self.defined);
        let copy = self.header.map(|header| header.payload());
        let is_copy_wrong = get_u32(payload, 0) == Ok(0)
            && definition::header_copy(payload, number).ok() != copy.as_ref().map(<[u8; _]>::as_slice);
        if decoded.is_err() {
            self.lose(number, What::Payload("definitions"));
        } else if is_copy_wrong {
            self.lose(number, What::Payload("copy of the header"));
        } else if let Some(what) = wrong {
            self.lose(number, What::Payload(what));
        }
    }

    fn take_leaf(&mut self, number: u32, payload: &[u8]) {
        let Ok(leaf) = Leaf::open(payload) else { return self.lose(number, What::Payload("leaf")) };
        let mut chunk = Chunk::default();
        for (slot, (entry, bytes)) in (0..).zip(leaf.iter()) {
            let facts = match self.take_chunk(&entry, bytes, &mut chunk) {
                Ok(facts) => Some(facts),
                Err(wrong) => {
                    self.is_block_lost = true;
                    self.fault(
                        Some(number),
                        match wrong {
                            Wrong::Codec(error) => What::Codec { slot, error },
                            Wrong::Says(what) => What::Chunk { slot, what },
                        },
                    );
                    None
                }
            };
            self.window.push(KnownChunk {
                block: number,
                slot,
                series: entry.series,
                facts,
                is_named: false,
            });
        }
    }

    fn take_chunk(&mut self, entry: &Entry, bytes: &[u8], chunk: &mut Chunk) -> Result<Facts, Wrong> {
        if entry.series >= self.defined && !self.is_definition_lost {
            return Err(Wrong::Says("no definition before it names its series"));
        }
        codec::decode(bytes, entry.rows, entry.begin, chunk).map_err(Wrong::Codec)?;
        if !chunk.timestamps.is_sorted_by(|a, b| a < b) {
            return Err(Wrong::Says("its times don't rise"));
        }
        if chunk.timestamps.first() != Some(&entry.begin) || chunk.timestamps.last() != Some(&entry.last) {
            return Err(Wrong::Says("its times are not those of the directory"));
        }
        let header = self.header.as_ref();
        let span = TimeRange::new(entry.begin, entry.last.saturating_add(1));
        if header.is_some_and(|header| !header.partition.covers(span)) {
            return Err(Wrong::Says("its times are outside of the segment's partition"));
        }
        let rows = u64::from(entry.rows);
        if let Some(tally) = self.tallies.of(entry.series) {
            if tally.last_at.is_some_and(|last| last >= entry.begin) {
                return Err(Wrong::Says("it is not behind the chunk of its series before it"));
            }
            tally.last_at = Some(entry.last);
            tally.in_leaves = tally.in_leaves.saturating_add(rows);
        }
        self.report.rows = self.report.rows.saturating_add(rows);
        self.report.chunks = self.report.chunks.saturating_add(1);
        self.span = TimeRange::hull(self.span.into_iter().chain([span]));
        let laws = Laws { max_hold_ns: header.map_or(0, |header| header.max_hold_ns) };
        Ok(Facts::of(&summarize(&chunk.rows(&mut Vec::new()), &laws)))
    }

    /// A reference log against the chunks before it.
    fn take_log(&mut self, number: u32, payload: &[u8]) {
        let Ok(references) = log::decode(payload) else {
            return self.lose(number, What::Payload("reference log"));
        };
        let before = self.log_block.replace(number).unwrap_or(0);
        if get_u32(payload, 0) != Ok(before) && !self.is_block_lost {
            self.fault(Some(number), What::Payload("link to the reference log before it"));
        }
        for reference in references {
            let is_of_window = reference.block >= self.window.first_block;
            let is_lost = self.window.is_lost(reference.block);
            match self.window.find(reference.block, reference.slot) {
                Some(chunk) => {
                    let agrees = chunk.facts.is_none_or(|facts| facts.agrees(&Facts::of(&reference.summary)));
                    let is_same = chunk.series == reference.series;
                    if !agrees || !is_same {
                        let what = What::Summary { series: reference.series, level: 0 };
                        self.fault(Some(number), what);
                    }
                }
                None if is_of_window && !is_lost => {
                    let what = What::Series {
                        series: reference.series,
                        what: "a log names a chunk that is not there",
                    };
                    self.fault(Some(number), what);
                }
                None => {}
            }
        }
    }
}

/// What is wrong with a chunk.
enum Wrong {
    Codec(codec::CodecError),
    Says(&'static str),
}
