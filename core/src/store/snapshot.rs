//! What a question sees: the runs of a store at one moment, each with its rank.
//!
//! Sealed segments are named by their files. An open segment and the late points in memory are given as
//! roots over blocks: those of the file, and virtual ones that exist in memory only. A snapshot is a
//! copy: the store may go on writing, and files that it names only grow.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::device::Medium;
use super::error::StoreError;
use super::open_segment::OpenSegment;
use super::running::Store;
use super::segment_file::SegmentState;
use crate::block::SegmentId;
use crate::segment::{Sealed, SegmentHeader, SegmentKind, Unsealed, Writer};
use crate::series::{RegexMatcher, Selector, SeriesName};

/// What a run is read from.
#[derive(Clone, Debug)]
pub enum RunContent {
    /// A sealed segment.
    Sealed(Box<Sealed>),
    /// A segment that was never sealed and is not written any more: it is read by a scan.
    Unsealed,
    /// A segment that is being written, or points that are in no segment.
    Live(Box<Unsealed>),
}

/// Points of which every (series, timestamp) is there at most once.
#[derive(Clone, Debug)]
pub struct Run {
    /// What the run is; of two points with one series and time the one with the higher rank counts.
    pub header: SegmentHeader,
    /// The file that holds its blocks; `None` where all are in memory.
    pub path: Option<String>,
    /// Blocks of that file that count.
    pub block_count: u32,
    /// How it is read.
    pub content: RunContent,
}

/// What is wanted of runs that are not sealed.
#[derive(Clone, Copy)]
enum Look {
    Rows,
    Names,
}

impl Look {
    fn at<'a>(self, writer: &mut Writer, names: impl Iterator<Item = &'a SeriesName>) -> Unsealed {
        match self {
            Self::Rows => Unsealed::of(writer, names),
            Self::Names => Unsealed::outline(writer, names),
        }
    }
}

impl<M: Medium> Store<M> {
    /// The runs of the store. Of those that are not sealed, only the series that `selector` means are
    /// looked at.
    ///
    /// # Errors
    /// A fault of the store itself; nothing is changed by it.
    pub fn snapshot(
        &mut self,
        selector: &Selector,
        regex: &(impl RegexMatcher + ?Sized),
    ) -> Result<Vec<Run>, StoreError<M::Error>> {
        self.runs(&self.table.live().resolve(selector, regex), Look::Rows)
    }

    /// The same to list series: of runs that are not sealed there are names and spans, and no rows.
    ///
    /// # Errors
    /// As [`Self::snapshot`].
    pub fn outline(
        &mut self,
        selector: &Selector,
        regex: &(impl RegexMatcher + ?Sized),
    ) -> Result<Vec<Run>, StoreError<M::Error>> {
        self.runs(&self.table.live().resolve(selector, regex), Look::Names)
    }

    fn runs(&mut self, wanted: &[u32], look: Look) -> Result<Vec<Run>, StoreError<M::Error>> {
        let mut runs: Vec<Run> = self.segments.iter().map(stored_run).collect();
        for open in &mut self.open {
            let Some(segment) = &mut open.segment else { continue };
            let names = wanted.iter().filter_map(|series| self.table.get(*series)).map(|(name, ..)| name);
            runs.push(open_run(segment, names, look));
        }
        if let Some(segment) = &mut self.chores.sealing {
            let names = wanted.iter().filter_map(|series| self.table.get(*series)).map(|(name, ..)| name);
            runs.push(open_run(segment, names, look));
        }
        let is_wanted: BTreeSet<u32> = wanted.iter().copied().collect();
        for (place, late) in self.late.iter().enumerate() {
            let header = self.header_in_memory(place as u32, late.partition.range);
            let mut writer = Writer::new(header, self.epoch);
            self.fill(&mut writer, late, |series| is_wanted.contains(&series))?;
            let names = wanted.iter().filter_map(|series| self.table.get(*series)).map(|(name, ..)| name);
            let mut live = look.at(&mut writer, names);
            live.block_count = 0;
            live.keep(writer.take_blocks());
            runs.push(Run { header, path: None, block_count: 0, content: RunContent::Live(Box::new(live)) });
        }
        runs.sort_by_key(|run| run.header.rank);
        Ok(runs)
    }

    /// The header of late points that are in no segment: written last, so with the highest rank.
    fn header_in_memory(&self, place: u32, partition: crate::point::TimeRange) -> SegmentHeader {
        SegmentHeader {
            id: SegmentId { device: self.device, epoch: self.epoch, number: u32::MAX - place },
            kind: SegmentKind::Late,
            rank: self.next_rank,
            partition,
            max_hold_ns: self.config.max_hold_ns,
            covered_lsn: 0,
            writer: SegmentHeader::writer_name(self.config.writer),
        }
    }
}

/// What is written of a segment, and what its writer holds of `names`.
fn open_run<'a, D>(
    segment: &mut OpenSegment<D>,
    names: impl Iterator<Item = &'a SeriesName>,
    look: Look,
) -> Run {
    let mut live = look.at(&mut segment.writer, names);
    live.block_count = segment.file.block_count;
    live.keep(segment.unwritten.clone());
    Run {
        header: segment.file.header,
        path: Some(segment.file.path.clone()),
        block_count: segment.file.block_count,
        content: RunContent::Live(Box::new(live)),
    }
}

fn stored_run(file: &super::segment_file::SegmentFile) -> Run {
    Run {
        header: file.header,
        path: Some(file.path.clone()),
        block_count: file.block_count,
        content: match &file.state {
            SegmentState::Sealed(sealed) => RunContent::Sealed(sealed.clone()),
            SegmentState::Open | SegmentState::Unsealed => RunContent::Unsealed,
        },
    }
}
