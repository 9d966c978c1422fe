//! The check as a machine: it is asked for its next step and fed the blocks that it wants.

use super::chunks::Window;
use super::fault::{Fault, What};
use super::tallies::Tallies;
use super::tree_pass::Tree;
use crate::block::{BLOCK_LEN, Block};
use crate::point::TimeRange;
use crate::segment::SegmentError;
use crate::segment::blocks::{Answer, BlockMap, Blocks};
use crate::segment::header::{SegmentHeader, SegmentKind};
use crate::segment::reader::Sealed;
use alloc::boxed::Box;
use alloc::collections::{BTreeSet, VecDeque};
use core::ops::Range;

/// Blocks that one step asks for at most.
const READ_BLOCKS: u32 = 64;
/// Blocks that are kept at hand; with more, all are dropped and asked for again.
const AT_HAND_MAX: usize = 2_048;

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckStep {
    /// These blocks are wanted: give them by [`Check::feed`] or [`Check::feed_unreadable`].
    Need(Range<u32>),
    /// Something is wrong.
    Fault(Fault),
    /// Everything was looked at.
    Done,
}

/// What was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Blocks looked at.
    pub blocks: u64,
    /// Readings in leaves that could be decoded.
    pub rows: u64,
    /// Chunks that could be decoded.
    pub chunks: u64,
    /// Faults given.
    pub faults: u64,
    /// Whether there is a footer.
    pub is_sealed: bool,
}

/// Blocks without which it does not go on.
pub(super) struct Wanted(pub(super) Range<u32>);

/// How far it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Opening,
    /// Roots from this catalog position on, and the nodes below those read before.
    Tree(u32),
    Blocks,
    /// The window against what names its chunks, from this holder on.
    Compare(usize),
    /// What stands beside the names.
    Sections,
    /// Names from this catalog position on.
    Names(u32),
    Sums,
    Done,
}

/// A segment that is being checked.
#[derive(Debug)]
pub struct Check {
    pub(super) block_count: u32,
    pub(super) phase: Phase,
    pub(super) header: Option<SegmentHeader>,
    pub(super) sealed: Option<Box<Sealed>>,
    pub(super) blocks: BlockMap,
    unreadable: BTreeSet<u32>,
    faults: VecDeque<Fault>,
    pub(super) report: CheckReport,
    pub(super) tallies: Tallies,
    pub(super) window: Window,
    pub(super) tree: Tree,
    /// The next block of the pass over all blocks.
    pub(super) next_block: u32,
    pub(super) write_epoch: u32,
    /// The first of the empty blocks before the next one.
    pub(super) hole: Option<u32>,
    pub(super) log_block: Option<u32>,
    /// Series that definitions named so far, and whether some of them are lost.
    pub(super) defined: u32,
    pub(super) is_definition_lost: bool,
    /// Whether a damaged block may explain that counts differ.
    pub(super) is_block_lost: bool,
    pub(super) last_name: alloc::string::String,
    /// Where the heads section says that the series of the catalog end.
    pub(super) ends: Option<alloc::vec::Vec<Option<i64>>>,
    pub(super) span: Option<TimeRange>,
}

impl Check {
    /// Begins with a file of `block_count` whole blocks and `odd_bytes` behind them.
    pub fn new(block_count: u32, odd_bytes: u32) -> Self {
        let mut check = Self {
            block_count,
            phase: Phase::Opening,
            header: None,
            sealed: None,
            blocks: BlockMap::new(),
            unreadable: BTreeSet::new(),
            faults: VecDeque::new(),
            report: CheckReport::default(),
            tallies: Tallies::default(),
            window: Window::default(),
            tree: Tree::default(),
            next_block: 0,
            write_epoch: 0,
            hole: None,
            log_block: None,
            defined: 0,
            is_definition_lost: false,
            is_block_lost: false,
            last_name: alloc::string::String::new(),
            ends: None,
            span: None,
        };
        if odd_bytes > 0 {
            check.fault(Some(block_count), What::Cut);
        }
        check
    }

    /// Goes on to the next thing to do or to say.
    pub fn step(&mut self) -> CheckStep {
        loop {
            if let Some(fault) = self.faults.pop_front() {
                self.report.faults = self.report.faults.saturating_add(1);
                return CheckStep::Fault(fault);
            }
            let went = match self.phase {
                Phase::Opening => self.open(),
                Phase::Tree(position) => self.tree_step(position),
                Phase::Blocks => self.block_step(),
                Phase::Compare(holder) => self.compare_step(holder),
                Phase::Sections => self.section_step(),
                Phase::Names(position) => self.name_step(position),
                Phase::Sums => {
                    self.compare_sums();
                    Ok(())
                }
                Phase::Done => return CheckStep::Done,
            };
            if let Err(Wanted(range)) = went {
                let end = range.start.saturating_add(READ_BLOCKS).min(range.end).min(self.block_count);
                return CheckStep::Need(range.start..end.max(range.start.saturating_add(1)));
            }
            // Only between two steps: within one, all that it needs must be at hand together.
            if self.blocks.len() > AT_HAND_MAX {
                self.blocks.clear();
            }
        }
    }

    /// Takes blocks, the first as `block`.
    pub fn feed(&mut self, block: u32, bytes: &[u8]) {
        self.blocks.insert(block, bytes);
    }

    /// Learns that the medium does not give a block.
    pub fn feed_unreadable(&mut self, block: u32) {
        if self.unreadable.insert(block) {
            self.fault(Some(block), What::Unreadable);
        }
        self.feed(block, &[0; BLOCK_LEN]);
    }

    /// What was seen so far.
    pub fn report(&self) -> CheckReport {
        self.report
    }

    /// What the segment is, once it was opened.
    pub fn header(&self) -> Option<&SegmentHeader> {
        self.header.as_ref()
    }

    /// Blocks of the pass over all blocks that are behind it, for a bar.
    pub fn blocks_done(&self) -> u32 {
        self.next_block
    }

    pub(super) fn fault(&mut self, block: Option<u32>, what: What) {
        // What an unreadable block explains is said once.
        let is_known =
            block.is_some_and(|block| self.unreadable.contains(&block)) && what != What::Unreadable;
        if !is_known {
            self.faults.push_back(Fault { block, what });
        }
    }

    /// A copy of a block; `ahead` as many as will be wanted behind it.
    pub(super) fn block(&self, number: u32, ahead: u32) -> Result<Block, Wanted> {
        match self.blocks.block(number) {
            Some(block) => Ok(*block),
            None => Err(Wanted(number..number.saturating_add(ahead.max(1)).min(self.block_count))),
        }
    }

    fn open(&mut self) -> Result<(), Wanted> {
        match Sealed::open(self.block_count, &self.blocks) {
            Ok(Answer::Need(need)) => {
                return Err(Wanted(need.into_iter().next().unwrap_or(0..1)));
            }
            Ok(Answer::Ready(sealed)) => {
                if let Some(fault) = sealed.header_fault() {
                    self.fault(Some(0), What::Segment(in_block_0(fault)));
                }
                self.header = Some(*sealed.header());
                self.sealed = Some(Box::new(sealed));
                self.report.is_sealed = true;
                self.phase = Phase::Tree(0);
            }
            Err(_) if self.block_count > 1 && self.blocks.block(1).is_none() => return Err(Wanted(1..2)),
            Err(error) => {
                if error != SegmentError::Unsealed {
                    self.fault(None, What::Segment(error));
                }
                self.is_block_lost = error != SegmentError::Unsealed;
                let header = self.blocks.block(0).and_then(|block| SegmentHeader::open(block).ok());
                let copy = self.blocks.block(1).and_then(|block| SegmentHeader::open_copy(block).ok());
                self.header = header.or(copy);
                // Without the device id no block can be verified.
                self.phase = if self.header.is_some() { Phase::Blocks } else { Phase::Done };
            }
        }
        Ok(())
    }

    /// The sums of the footer and of each series.
    fn compare_sums(&mut self) {
        self.phase = Phase::Done;
        let Some(sealed) = self.sealed.as_deref() else { return };
        let footer = sealed.footer();
        let (rows, span, kind) = (footer.rows, footer.span, footer.header.kind);
        if !self.is_block_lost && rows != self.report.rows {
            let counted = self.report.rows;
            self.fault(None, What::Count { what: "readings of the footer", stated: rows, counted });
        }
        let found = self.span.unwrap_or(TimeRange::new(0, 0));
        if !self.is_block_lost && kind != SegmentKind::Tombstones && span != found {
            self.fault(
                None,
                What::Segment(SegmentError::Tail("the span of the footer is not that of the readings")),
            );
        }
        let mut faults = VecDeque::new();
        for (series, tally) in self.tallies.iter() {
            let what = match tally.in_root {
                None => Some("it has no root"),
                Some(rows) if !self.is_block_lost && rows != tally.in_leaves => {
                    Some("its root counts other readings than its leaves hold")
                }
                Some(rows) if rows > 0 && tally.definition.is_none() && !self.is_definition_lost => {
                    Some("it has readings and no definition")
                }
                Some(_) => None,
            };
            // Where the tail is damaged, roots are missing for that reason.
            if let Some(what) = what.filter(|_| self.tree.is_whole) {
                faults.push_back(Fault { block: None, what: What::Series { series, what } });
            }
        }
        self.faults.append(&mut faults);
    }
}

/// The fault, with its block where its words name none.
fn in_block_0(fault: SegmentError) -> SegmentError {
    match fault {
        SegmentError::NotASegment => SegmentError::Payload { block: 0, what: "header" },
        other => other,
    }
}
