//! Checkpoints and seals: what the journal protects goes into segments, and then its files are free.
//!
//! The order is the whole point: journal flushed, leaves flushed, late segments whole and named, and only
//! then the checkpoint's record. A crash between any two of these steps repeats work and loses nothing.

use alloc::vec::Vec;

use super::device::Medium;
use super::error::StoreError;
use super::expire::Protected;
use super::journal::{Checkpoint, OpenSegment as OpenAtCheckpoint};
use super::late::LatePartition;
use super::open_segment;
use super::running::Store;
use super::written::Meter;
use crate::point::{Point, Timestamp};
use crate::segment::{SegmentKind, SegmentNumber, Writer};

impl<M: Medium> Store<M> {
    /// Puts everything that is only in the journal into segments and frees the journal.
    ///
    /// # Errors
    /// The medium: then the store takes nothing more.
    pub fn checkpoint(&mut self) -> Result<(), StoreError<M::Error>> {
        self.guarded(|store| {
            store.checkpoint_now(false)?;
            store.keep_quota()
        })
    }

    /// Seals the open segments, so that every file on the medium is complete and can be carried away.
    ///
    /// # Errors
    /// The medium: then the store takes nothing more.
    pub fn seal(&mut self) -> Result<(), StoreError<M::Error>> {
        self.guarded(|store| {
            store.journal.commit()?;
            store.window.flushed();
            store.seal_open()?;
            store.checkpoint_now(false)?;
            store.keep_quota()
        })
    }

    /// Ends the store with a checkpoint, so that the next start has nothing to replay.
    ///
    /// # Errors
    /// The medium; what was committed is safe all the same.
    pub fn close(mut self) -> Result<M, StoreError<M::Error>> {
        self.checkpoint()?;
        Ok(self.medium)
    }

    pub(super) fn seal_open(&mut self) -> Result<(), StoreError<M::Error>> {
        (0..self.open.len()).try_for_each(|place| self.seal_segment(place))
    }

    pub(super) fn checkpoint_now(&mut self, is_file_done: bool) -> Result<(), StoreError<M::Error>> {
        self.finish_sealing()?;
        self.journal.commit()?;
        self.window.flushed();
        let mut open = Vec::new();
        for segment in self.open.iter_mut().filter_map(|open| open.segment.as_mut()) {
            let block_count = segment.flush(&mut self.written)?;
            let id = segment.file.header.id;
            open.push(OpenAtCheckpoint { epoch: id.epoch, number: id.number, block_count });
        }
        self.write_late(|_| true)?;
        let number = |open: &OpenAtCheckpoint| SegmentNumber { epoch: open.epoch, number: open.number };
        let protected = Protected { rank: self.next_rank, open: open.iter().map(number).collect() };
        let (rank, written, aged) = (self.next_rank, self.written(), self.chores.aged);
        if let Some(now_ns) = self.now_ns {
            self.meter = Some(Meter::after(self.meter, now_ns, written.total()));
        }
        let meter = self.meter;
        let checkpoint = Checkpoint { rank, written, aged, meter, open, ..Checkpoint::default() };
        self.journal.checkpoint(&mut self.medium, checkpoint, &self.window, is_file_done)?;
        self.chores.protected = protected;
        Ok(())
    }

    /// Writes the late points of the partitions that `choose` takes as one segment each.
    ///
    /// The record in the making must be closed: the segments say that they hold every late point of
    /// their partition below the journal's position.
    pub(super) fn write_late(
        &mut self,
        choose: impl Fn(&LatePartition) -> bool,
    ) -> Result<(), StoreError<M::Error>> {
        let covered_lsn = self.journal.position();
        let begins: Vec<i64> =
            self.late.iter().filter(|late| choose(late)).map(|late| late.partition.range.begin).collect();
        for begin in begins {
            let Some(partition) = self.late.get(begin).map(|late| late.partition) else { continue };
            let header = self.next_header(SegmentKind::Late, &partition, covered_lsn);
            let mut writer = Writer::new(header, self.epoch);
            if let Some(late) = self.late.get(begin) {
                self.fill(&mut writer, late, |_| true)?;
            }
            let file =
                open_segment::write_late(&mut self.medium, &partition.name(), writer, &mut self.written)?;
            self.segments.push(file);
            self.late.remove(begin);
        }
        Ok(())
    }

    /// Appends late points to a writer, those of the series that `choose` takes.
    ///
    /// Series are defined before all points, in the order of their names: so definitions fill their blocks, and each
    /// name is written as what it differs by from the one before.
    pub(super) fn fill(
        &self,
        writer: &mut Writer,
        late: &LatePartition,
        choose: impl Fn(u32) -> bool,
    ) -> Result<(), StoreError<M::Error>> {
        let mut chosen = Vec::new();
        for series in late.series().filter(|series| choose(*series)) {
            chosen.push((series, self.table.get(series).ok_or(StoreError::UnknownSeries)?));
        }
        chosen.sort_by_key(|(_, (name, ..))| *name);
        for (_, (name, kind, unit)) in &chosen {
            writer.define(name, *kind, unit);
        }
        for (series, (name, kind, unit)) in chosen {
            let index = writer.define(name, kind, unit);
            for (at, value) in late.rows(series) {
                let point = Point { timestamp: Timestamp(*at), value: value.value() };
                writer.append(index, &point, 0).map_err(StoreError::Refused)?;
            }
        }
        Ok(())
    }
}
