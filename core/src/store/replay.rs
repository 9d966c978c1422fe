//! What is only in the journal comes back: the store's side of the replay.
//!
//! Each point was decided to be in order or late when it was written, and stays so. A point in order is
//! skipped where a segment of its time holds a later one of its series, a late one where a late
//! segment says that it covers it. So the replay may be interrupted and done again, any number of times.

use alloc::vec::Vec;

use super::device::Medium;
use super::error::StoreError;
use super::expire::Protected;
use super::head::{Heads, Placement};
use super::identity::Identity;
use super::journal::Visitor;
use super::partition::Partition;
use super::recover::raise_to;
use super::running::Store;
use super::segment_file::SegmentFile;
use crate::point::{Point, TimeRange, ValueKind};
use crate::segment::SegmentNumber;
use crate::series::SeriesName;

/// What the in-order segments of one range of time held when the replay began.
struct Written {
    range: TimeRange,
    /// Read when it is asked for.
    heads: Option<Heads>,
}

/// A store that takes what its journal holds.
pub(super) struct Replay<'a, M: Medium> {
    store: &'a mut Store<M>,
    /// By the ranges that the segments themselves have: the setting may have changed since.
    written: Vec<Written>,
    /// What the segments that are gone on with hold.
    open: Vec<(TimeRange, Heads)>,
    /// In these ranges every point below this position was in segments before a merge took deleted ones away.
    cleared: Vec<(TimeRange, u64)>,
    /// What the journal may hold points of.
    protected: Protected,
    replayed: u64,
    skipped: u64,
}

impl<'a, M: Medium> Replay<'a, M> {
    pub(super) fn new(store: &'a mut Store<M>) -> Result<Self, StoreError<M::Error>> {
        let protected = store.chores.protected.clone();
        let mut written: Vec<Written> = Vec::new();
        for file in store.segments.iter().filter(|file| is_asked(file, store, &protected)) {
            let range = file.header.partition;
            if written.iter().all(|known| known.range != range) {
                written.push(Written { range, heads: None });
            }
        }
        let mut open = Vec::new();
        for segment in store.open.iter().filter_map(|open| open.segment.as_ref()) {
            let mut heads = Heads::default();
            raise_to(&mut heads, &segment.writer, &mut store.table)?;
            open.push((segment.file.header.partition, heads));
        }
        let applied = store.segments.iter().filter(|file| !file.supersedes.applied.is_empty());
        let cleared = applied.map(|file| (file.header.partition, file.header.covered_lsn)).collect();
        Ok(Self { store, written, open, cleared, protected, replayed: 0, skipped: 0 })
    }

    /// Points that were taken, and points that segments hold already.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.replayed, self.skipped)
    }

    /// Whether a segment holds this point, or a later one of its series, in order.
    fn is_written(&mut self, series: u32, at: i64) -> Result<bool, StoreError<M::Error>> {
        let reaches = |heads: &Heads| heads.at(series).is_some_and(|head| at <= head);
        if self.open.iter().any(|(range, heads)| range.contains(at) && reaches(heads)) {
            return Ok(true);
        }
        for written in self.written.iter_mut().filter(|written| written.range.contains(at)) {
            if written.heads.is_none() {
                written.heads = Some(load(self.store, written.range, &self.protected)?);
            }
            if written.heads.as_ref().is_some_and(reaches) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes a late point that no late segment of its time covers.
    fn late(&mut self, lsn: u64, series: u32, point: &Point<'_>) -> bool {
        let at = point.timestamp.0;
        let device = self.store.device;
        let is_of_time =
            |file: &&SegmentFile| file.header.partition.contains(at) && file.header.id.device == device;
        let of_time = self.store.segments.iter().filter(is_of_time);
        let covered = of_time.map(|file| file.header.covered_lsn).max().unwrap_or(0);
        if let Some(open) = self.store.open_at(at) {
            open.note_ahead(series, at);
        }
        if lsn >= covered {
            self.put_late(series, point);
        }
        lsn >= covered
    }

    fn put_late(&mut self, series: u32, point: &Point<'_>) {
        let at = point.timestamp.0;
        let partition = Partition::of(self.store.config.partition, at);
        self.store.late.put(partition, series, at, point.value.into());
    }

    /// Takes a point in order that no segment holds.
    fn in_order(&mut self, lsn: u64, series: u32, point: &Point<'_>) -> Result<bool, StoreError<M::Error>> {
        let at = point.timestamp.0;
        let is_cleared = |(range, below): &(TimeRange, u64)| range.contains(at) && lsn < *below;
        if self.cleared.iter().any(is_cleared) || self.is_written(series, at)? {
            return Ok(false);
        }
        if self.store.open_at(at).is_none() {
            let partition = Partition::of(self.store.config.partition, at);
            self.store.open_partition(partition)?;
        }
        match self.store.place_in_order(series, point) {
            Placement::InOrder | Placement::Between => self.store.put_in_order(series, point, lsn)?,
            // It was in order in a smaller partition than the settings ask for now, or among rows that
            // this replay codes at another moment.
            Placement::Late => self.put_late(series, point),
            Placement::Repeat => return Ok(false),
        }
        Ok(true)
    }
}

/// Whether a segment holds points that this store put there in order, before this start.
fn is_own<M: Medium>(file: &SegmentFile, store: &Store<M>) -> bool {
    let id = file.header.id;
    file.is_in_order() && id.device == store.device && id.epoch < store.epoch
}

/// Whether a segment may hold points that are replayed: what was sealed before the checkpoint from which the replay
/// begins holds none. The result of a merge may if it was made since the oldest segment that was open then, which it
/// may hold.
fn is_asked<M: Medium>(file: &SegmentFile, store: &Store<M>, protected: &Protected) -> bool {
    let number = SegmentNumber::of(&file.header.id);
    let is_merged = !file.supersedes.inputs.is_empty();
    let is_since = file.header.rank >= protected.rank
        || protected.open.contains(&number)
        || (is_merged && protected.open.iter().any(|open| *open < number));
    is_own(file, store) && is_since
}

/// The heads of the segments of exactly this range that may hold points which are replayed, as their roots say:
/// higher than that they must not be.
fn load<M: Medium>(
    store: &mut Store<M>,
    range: TimeRange,
    protected: &Protected,
) -> Result<Heads, StoreError<M::Error>> {
    let mut heads = Heads::default();
    let mut last_times = Vec::new();
    let asked = |file: &&SegmentFile| is_asked(file, store, protected) && file.header.partition == range;
    for file in store.segments.iter().filter(asked) {
        if let Some(device) = store.medium.open(&file.path)? {
            last_times.extend(file.last_times(&device)?);
        }
    }
    for (name, kind, unit, last) in last_times {
        let series = store.table.add(&name, kind, &unit).map_err(|_| StoreError::TooManySeries)?;
        heads.raise(series, last);
    }
    Ok(heads)
}

impl<M: Medium> Visitor for Replay<'_, M> {
    type Error = StoreError<M::Error>;

    fn series(&mut self, name: &str, kind: ValueKind, unit: &str) -> Result<Option<u32>, Self::Error> {
        let Ok(name) = SeriesName::parse(name) else { return Ok(None) };
        self.store.table.add(&name, kind, unit).map(Some).map_err(|_| StoreError::TooManySeries)
    }

    fn point(&mut self, lsn: u64, series: u32, is_late: bool, point: Point<'_>) -> Result<(), Self::Error> {
        let is_new =
            if is_late { self.late(lsn, series, &point) } else { self.in_order(lsn, series, &point)? };
        if is_new {
            self.replayed += 1;
            self.store.points += 1;
        } else {
            self.skipped += 1;
        }
        Ok(())
    }

    fn identity(&mut self, identity: Identity, is_carried: bool) {
        if is_carried { self.store.window.keep(identity) } else { self.store.window.note(identity) }
    }

    fn flushed(&mut self) {
        self.store.window.flushed();
    }
}
