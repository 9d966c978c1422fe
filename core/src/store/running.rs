//! A running store: what it holds, and appending to it.
//!
//! A message goes one way: it is checked, each of its points gets its place (in order, late, repeat), the
//! journal takes it, and then the open segments and the late points do. Nothing is durable, and nothing
//! may be acknowledged, before [`Store::commit`] returns.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::config::StoreConfig;
use super::device::Medium;
use super::error::StoreError;
use super::head::Placement;
use super::identity::{Identity, Window};
use super::journal::{Journal, JournalPoint, PutError};
use super::late::LatePoints;
use super::limits::{STATE_BYTES_MAX, UNIT_BYTES_MAX};
use super::open_partition::OpenPartition;
use super::partition::Partition;
use super::segment_file::SegmentFile;
use super::series_table::{SeriesId, SeriesTable};
use super::work::Chores;
use super::written::{Meter, Written};
use crate::block::DeviceId;
use crate::point::{Point, Timestamp, Value, ValueKind};
use crate::series::SeriesName;

/// A point of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading<'a> {
    /// Whose.
    pub series: SeriesId,
    /// When and what.
    pub point: Point<'a>,
}

/// What became of the points of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Appended {
    /// Points after the last one of their series.
    pub in_order: u64,
    /// Points that came late.
    pub late: u64,
    /// Exact repeats of the last point, which are not stored again.
    pub repeats: u64,
}

/// A store that is open.
#[derive(Debug)]
pub struct Store<M: Medium> {
    pub(super) medium: M,
    pub(super) config: StoreConfig,
    pub(super) device: DeviceId,
    pub(super) epoch: u32,
    pub(super) journal: Journal<M::Device>,
    pub(super) table: SeriesTable,
    pub(super) window: Window,
    /// All segments that are not being written.
    pub(super) segments: Vec<SegmentFile>,
    pub(super) open: Vec<OpenPartition<M::Device>>,
    pub(super) late: LatePoints,
    /// Late points that came for partitions which are not open, by their begin.
    pub(super) strays: BTreeMap<i64, u32>,
    pub(super) next_number: u32,
    pub(super) next_rank: u64,
    /// Points taken since the start.
    pub(super) points: u64,
    pub(super) is_failed: bool,
    /// What the outside says about the time.
    pub(super) now_ns: Option<i64>,
    pub(super) is_time_exact: bool,
    /// Blocks written, those of this start's journal not counted: it counts for itself.
    pub(super) written: Written,
    /// The same over time.
    pub(super) meter: Option<Meter>,
    /// What can wait.
    pub(super) chores: Chores<M::Device>,
}

impl<M: Medium> Store<M> {
    /// The device id.
    pub fn device(&self) -> DeviceId {
        self.device
    }

    /// The epoch of this start.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// All segments that are not being written.
    pub fn segments(&self) -> &[SegmentFile] {
        &self.segments
    }

    /// Blocks written since the store was made; what an earlier run wrote behind its last checkpoint is not known.
    pub fn written(&self) -> Written {
        Written { journal: self.written.journal + self.journal.blocks_written(), ..self.written }
    }

    /// The number of a series; a new one gets this kind and unit.
    ///
    /// # Errors
    /// `UnitTooLong`, `TooManySeries`.
    pub fn series(
        &mut self,
        name: &SeriesName,
        kind: ValueKind,
        unit: &str,
    ) -> Result<SeriesId, StoreError<M::Error>> {
        if unit.len() > UNIT_BYTES_MAX {
            return Err(StoreError::UnitTooLong);
        }
        self.table.add(name, kind, unit).map(SeriesId).map_err(|_| StoreError::TooManySeries)
    }

    /// Name, kind and unit of a series.
    pub fn series_of(&self, id: SeriesId) -> Option<(&SeriesName, ValueKind, &str)> {
        self.table.get(id.0)
    }

    /// The names known since the start, and what they are found by.
    pub fn index(&self) -> &crate::index::Live {
        self.table.live()
    }

    /// Whether a message with this identity is stored: it was delivered again and is to be acknowledged
    /// like any other once [`Store::commit`] returned, and not appended.
    pub fn is_stored(&self, identity: &Identity) -> bool {
        self.window.holds(identity)
    }

    /// As many messages are stored and not acknowledged for certain: so many can come again, and from here
    /// on twice as many are remembered.
    pub fn note_unacknowledged(&mut self, count: usize) {
        self.window.widen(count);
    }

    /// The time of the last point that a series has in order in a partition which is open.
    pub fn last_time(&self, id: SeriesId) -> Option<Timestamp> {
        self.open.iter().filter_map(|open| open.heads.at(id.0)).max().map(Timestamp)
    }

    /// Late points that are in no segment yet; what was written over among them is counted too.
    pub fn late_points(&self) -> usize {
        self.late.count()
    }

    /// Takes the points of one message, and its identity where it can come again.
    ///
    /// # Errors
    /// A point that can't be stored: then nothing of the message is. Otherwise the medium: then the store
    /// takes nothing more.
    pub fn append(
        &mut self,
        readings: &[Reading<'_>],
        identity: Option<Identity>,
    ) -> Result<Appended, StoreError<M::Error>> {
        for reading in readings {
            self.check(reading)?;
        }
        self.guarded(|store| store.append_checked(readings, identity))
    }

    /// Makes everything appended so far durable: now it may be acknowledged.
    ///
    /// # Errors
    /// The medium: then nothing since the last commit may be acknowledged, and the store takes nothing more.
    pub fn commit(&mut self) -> Result<(), StoreError<M::Error>> {
        self.guarded(|store| {
            store.journal.commit()?;
            store.window.flushed();
            Ok(())
        })
    }

    /// Takes nothing more from here on, as after a failure: somebody is going to open the store again. What it holds can
    /// be asked until then.
    pub fn retire(&mut self) {
        self.is_failed = true;
    }

    /// Runs an operation that may leave memory and medium apart when it fails: the last one then.
    pub(super) fn guarded<T>(
        &mut self,
        operation: impl FnOnce(&mut Self) -> Result<T, StoreError<M::Error>>,
    ) -> Result<T, StoreError<M::Error>> {
        if self.is_failed {
            return Err(StoreError::Failed);
        }
        let result = operation(self);
        self.is_failed = result.is_err();
        result
    }

    fn check(&self, reading: &Reading<'_>) -> Result<(), StoreError<M::Error>> {
        if self.table.get(reading.series.0).is_none() {
            return Err(StoreError::UnknownSeries);
        }
        if reading.point.timestamp == Timestamp::MAX {
            return Err(StoreError::TimestampTooLarge);
        }
        match reading.point.value {
            Value::State(text) if text.len() > STATE_BYTES_MAX => Err(StoreError::StateTooLong),
            _ => Ok(()),
        }
    }

    fn append_checked(
        &mut self,
        readings: &[Reading<'_>],
        identity: Option<Identity>,
    ) -> Result<Appended, StoreError<M::Error>> {
        // Partitions are opened before any point has its place, so that what waits late for a partition
        // is older than everything in order there.
        for reading in readings {
            self.make_way(reading.point.timestamp.0)?;
        }
        let mut appended = Appended::default();
        let mut placed: Vec<JournalPoint<'_>> = Vec::with_capacity(readings.len());
        for Reading { series, point } in readings {
            if !self.is_after_head(series.0, point) && placed.iter().any(|point| !point.is_late) {
                // Rows that are coded for the points before it may close its place: put those first.
                self.put_pieces(&placed, None)?;
                placed.clear();
            }
            let placement = self.place(series.0, point);
            match placement {
                Placement::InOrder | Placement::Between => appended.in_order += 1,
                Placement::Late => appended.late += 1,
                Placement::Repeat => {
                    appended.repeats += 1;
                    continue;
                }
            }
            let is_late = placement == Placement::Late;
            let (timestamp, value) = (point.timestamp.0, point.value);
            placed.push(JournalPoint { series: series.0, is_late, timestamp, value });
            if placement == Placement::Between {
                self.put_pieces(&placed, None)?;
                placed.clear();
            }
        }
        self.put_pieces(&placed, identity)?;
        if let Some(identity) = identity {
            self.window.note(identity);
        }
        if self.is_late_strewn() || self.late.bytes() > self.config.late_bytes_max {
            // Memory is short, not the journal: a checkpoint would end the rows of every open series as well.
            self.journal.commit()?;
            self.window.flushed();
            self.write_late(|_| true)?;
        }
        self.keep_quota()?;
        Ok(appended)
    }

    /// Puts points in pieces that the journal takes as one message, the identity with the last.
    fn put_pieces(
        &mut self,
        points: &[JournalPoint<'_>],
        identity: Option<Identity>,
    ) -> Result<(), StoreError<M::Error>> {
        let mut rest = points;
        loop {
            let (piece, behind) = rest.split_at(self.fitting(rest));
            self.put(piece, identity.filter(|_| behind.is_empty()))?;
            rest = behind;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    /// Makes a point late where a checkpoint coded the rows that it was to fall among.
    fn settle(&mut self, point: &mut JournalPoint<'_>) {
        let (series, at) = (point.series, point.timestamp);
        let Some(open) = self.open_at(at).filter(|_| !point.is_late) else { return };
        if open.segment.as_ref().is_some_and(|segment| !segment.takes(series, at)) {
            point.is_late = true;
            open.heads.note_late(series, at);
        }
    }

    /// How many of `points` the journal takes as one message.
    fn fitting(&self, points: &[JournalPoint<'_>]) -> usize {
        let mut bytes = 0;
        let max = self.journal.message_bytes_max();
        let fits = |point: &&JournalPoint<'_>| {
            bytes += self.journal.reading_bytes(point, &self.table);
            bytes <= max
        };
        points.iter().take_while(fits).count().max(1).min(points.len())
    }

    /// Puts points into the journal and then where they belong.
    fn put(
        &mut self,
        points: &[JournalPoint<'_>],
        identity: Option<Identity>,
    ) -> Result<(), StoreError<M::Error>> {
        if points.is_empty() && identity.is_none() {
            return Ok(());
        }
        let mut lsn = self.journal.position();
        let mut points = Cow::Borrowed(points);
        let mut result = self.journal.put(&points, identity, &self.table);
        if matches!(result, Err(PutError::Full)) {
            self.checkpoint_now(true)?;
            points.to_mut().iter_mut().for_each(|point| self.settle(point));
            lsn = self.journal.position();
            result = self.journal.put(&points, identity, &self.table);
        }
        match result {
            Ok(()) => {}
            Err(PutError::Full) => return Err(StoreError::JournalFull),
            Err(PutError::Device(error)) => return Err(StoreError::Medium(error)),
        }
        for point in points.iter() {
            let whole = Point { timestamp: Timestamp(point.timestamp), value: point.value };
            if point.is_late {
                let partition = Partition::of(self.config.partition, point.timestamp);
                self.late.put(partition, point.series, point.timestamp, point.value.into());
            } else {
                self.put_in_order(point.series, &whole, lsn)?;
            }
        }
        self.points += points.len() as u64;
        Ok(())
    }
}
