//! Which partitions are open, and where a point belongs.
//!
//! At most two are open: the current one and, around the turn, the next. A partition is opened in place
//! of another only when that one is idle, so that neither a stray clock nor three of them make
//! segments of a few points; what finds no open partition is late, which loses nothing.

use alloc::collections::BTreeSet;

use super::device::{Device, Medium};
use super::error::StoreError;
use super::head::{Heads, Placement};
use super::limits::{IDLE_POINTS, OPEN_PARTITIONS_MAX, STRAYS_MAX};
use super::open_segment::OpenSegment;
use super::partition::Partition;
use super::running::Store;
use super::segment_file::SegmentFile;
use super::written::Written;
use crate::block::SegmentId;
use crate::point::Point;
use crate::segment::{SegmentHeader, SegmentKind};

/// Partitions for which strays are counted.
const STRAY_PARTITIONS_MAX: usize = 64;

/// A partition that takes points in order.
#[derive(Debug)]
pub(super) struct OpenPartition<D> {
    pub(super) partition: Partition,
    /// Its open segment; none before its first point, and after a seal.
    pub(super) segment: Option<OpenSegment<D>>,
    pub(super) heads: Heads,
    /// Count of the store's points when it last got one in order.
    pub(super) used_at: u64,
    /// The trusted time then.
    pub(super) used_ns: Option<i64>,
    /// Late points behind the heads of their series.
    pub(super) ahead: BTreeSet<(u32, i64)>,
}

impl<D: Device> OpenPartition<D> {
    pub(super) fn new(partition: Partition) -> Self {
        Self {
            partition,
            segment: None,
            heads: Heads::default(),
            used_at: 0,
            used_ns: None,
            ahead: BTreeSet::new(),
        }
    }

    /// Seals the open segment, if there is one. Where the medium fails it stays, because its points are still read
    /// from it.
    pub(super) fn seal_segment(&mut self, written: &mut Written) -> Result<Option<SegmentFile>, D::Error> {
        let Some(segment) = &mut self.segment else { return Ok(None) };
        let sealed = segment.seal(written)?;
        self.segment = None;
        Ok(Some(sealed))
    }
}

impl<M: Medium> Store<M> {
    /// The open partition that holds `at`.
    pub(super) fn open_at(&mut self, at: i64) -> Option<&mut OpenPartition<M::Device>> {
        self.open.iter_mut().find(|open| open.partition.range.contains(at))
    }

    /// Opens the partition of `at`, if that is to be.
    pub(super) fn make_way(&mut self, at: i64) -> Result<(), StoreError<M::Error>> {
        if self.open_at(at).is_some() || self.is_ahead(at) {
            return Ok(());
        }
        let partition = Partition::of(self.config.partition, at);
        // One that is over by the clock is opened again only for more than a few points.
        let is_over = self.is_over(partition.range);
        let is_full = self.open.len() >= OPEN_PARTITIONS_MAX;
        if is_full || is_over {
            let begin = partition.range.begin;
            let is_next = !is_over && self.open.iter().any(|open| open.partition.range.end == begin);
            if self.strays.len() >= STRAY_PARTITIONS_MAX {
                self.strays.clear();
            }
            let strays = self.strays.entry(begin).or_default();
            *strays = strays.saturating_add(1);
            let is_wanted = is_next || *strays > STRAYS_MAX;
            if !is_wanted {
                return Ok(());
            }
            if is_full {
                let Some(idle) = self.idle_partition() else { return Ok(()) };
                self.close_partition(idle)?;
            }
            self.strays.remove(&begin);
        }
        self.open_partition(partition)?;
        // What waits late for it is older than everything that will be in order there, so its rank
        // must be lower than that of the segment to come.
        if self.late.has_some_in(&partition) {
            self.journal.close_record()?;
            self.write_late(|late| late.partition == partition)?;
        }
        Ok(())
    }

    /// The open partition that another may take the place of.
    fn idle_partition(&self) -> Option<usize> {
        let is_over = |open: &OpenPartition<M::Device>| self.is_over(open.partition.range);
        // By the points, or by the time that passed: a stray years ahead must not hold its place for as long
        // as a thousand readings of a slow sensor take.
        let is_idle = |at: &usize| {
            let open = &self.open[*at];
            let passed_ns = self.now_ns.zip(open.used_ns).map(|(now, used)| now.saturating_sub(used));
            self.points - open.used_at >= IDLE_POINTS
                || passed_ns.is_some_and(|passed| passed >= self.config.grace_ns)
        };
        let idlest = (0..self.open.len()).min_by_key(|at| self.open[*at].used_at);
        self.open.iter().position(is_over).or(idlest.filter(is_idle))
    }

    /// Opens a partition with the heads that its segments give.
    pub(super) fn open_partition(&mut self, partition: Partition) -> Result<(), StoreError<M::Error>> {
        self.finish_sealing()?;
        let mut open = OpenPartition::new(partition);
        open.used_at = self.points;
        self.raise_to_segments(partition.range, &mut open.heads)?;
        self.open.push(open);
        Ok(())
    }

    /// Seals what is open in a partition and closes it.
    pub(super) fn close_partition(&mut self, at: usize) -> Result<(), StoreError<M::Error>> {
        self.seal_segment(at)?;
        self.open.swap_remove(at);
        Ok(())
    }

    /// Whether a point lies behind all that its series has in order.
    pub(super) fn is_after_head(&mut self, series: u32, point: &Point<'_>) -> bool {
        let at = point.timestamp.0;
        self.open_at(at).and_then(|open| open.heads.at(series)).is_none_or(|head| head < at)
    }

    /// Decides where a point belongs.
    pub(super) fn place(&mut self, series: u32, point: &Point<'_>) -> Placement {
        let at = point.timestamp.0;
        let is_ahead = self.is_ahead(at);
        if let Some(open) = self.open_at(at)
            && (is_ahead || open.ahead.contains(&(series, at)))
        {
            open.note_ahead(series, at);
            return Placement::Late;
        }
        self.place_in_order(series, point)
    }

    /// Decides where a point belongs that is not ahead.
    pub(super) fn place_in_order(&mut self, series: u32, point: &Point<'_>) -> Placement {
        let at = point.timestamp.0;
        let Some(OpenPartition { heads, segment, .. }) = self.open_at(at) else { return Placement::Late };
        heads.place(series, at, point.value, || {
            segment.as_ref().map_or(Placement::Late, |segment| segment.place(series, point))
        })
    }

    /// Puts a point that was decided to be in order into the open segment of its partition.
    pub(super) fn put_in_order(
        &mut self,
        series: u32,
        point: &Point<'_>,
        lsn: u64,
    ) -> Result<(), StoreError<M::Error>> {
        let at = point.timestamp.0;
        let Some(place) = self.open.iter().position(|open| open.partition.range.contains(at)) else {
            return Ok(());
        };
        if self.open[place].segment.is_none() {
            let partition = self.open[place].partition;
            let header = self.next_header(SegmentKind::InOrder, &partition, 0);
            let grow = self.config.segment_grow_blocks;
            let created = OpenSegment::create(
                &mut self.medium,
                &partition.name(),
                header,
                self.epoch,
                grow,
                &mut self.written,
            )?;
            self.open[place].segment = Some(created);
        }
        let open = &mut self.open[place];
        (open.used_at, open.used_ns) = (self.points, self.now_ns);
        let Some(segment) = &mut open.segment else { return Ok(()) };
        let before = segment.file_blocks();
        segment.append(&self.table, series, point, lsn)?;
        segment.write_out(&mut self.written)?;
        let mut is_longer = segment.file_blocks() > before;
        if segment.writer.block_count() >= self.config.segment_blocks_max {
            self.seal_segment(place)?;
            is_longer = true;
        }
        if is_longer {
            // A checkpoint has to wait: not all of this message is in segments yet.
            self.expire_unhindered()?;
        }
        Ok(())
    }

    /// The header of the next segment: its number and rank are given to no other.
    pub(super) fn next_header(
        &mut self,
        kind: SegmentKind,
        partition: &Partition,
        covered_lsn: u64,
    ) -> SegmentHeader {
        let id = SegmentId { device: self.device, epoch: self.epoch, number: self.next_number };
        let rank = self.next_rank;
        self.next_number += 1;
        self.next_rank += 1;
        SegmentHeader {
            id,
            kind,
            rank,
            partition: partition.range,
            max_hold_ns: self.config.max_hold_ns,
            covered_lsn,
            writer: SegmentHeader::writer_name(self.config.writer),
        }
    }
}
