//! Retention: whole segments go, the oldest first, when there are too many bytes or they are too old.
//!
//! Choosing, what is in the way, clearing that, and dropping are four steps. Dropping writes nothing but a directory, so
//! it works on a full medium. Ages are measured by trusted time only, and free at most one partition an hour, which a
//! checkpoint says before the first segment goes: so no restart begins that hour anew, and a clock that is wrong in
//! spite of all costs little before it is seen.

use super::device::Medium;
use super::error::StoreError;
use super::open_partition::OpenPartition;
use super::running::Store;
use super::segment_file::SegmentFile;
use crate::segment::{SegmentKind, SegmentNumber};

/// No second partition goes by its age within this time.
const AGED_INTERVAL_NS: i64 = 3_600_000_000_000;

/// What lies before 2010 was stamped by a clock that was not set: its age says nothing.
const UNSET_NS: i64 = 1_262_304_000_000_000_000;

/// What the journal may still hold of segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Protected {
    /// Segments from this rank on are younger than the last checkpoint.
    pub(super) rank: u64,
    /// These were open then.
    pub(super) open: alloc::vec::Vec<SegmentNumber>,
}

/// The partition that went last by its age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Aged {
    /// Where it begins.
    pub(super) begin: i64,
    /// The trusted time when its first segment went.
    pub(super) since_ns: i64,
}

/// Why a segment has to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Bytes,
    Age,
}

/// What has to be cleared before a segment may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Obstacle {
    /// An open segment, by its place, ranks below it in its partition: what ranks lower may not outlive it, because that
    /// would bring back what was written over.
    Below(usize),
    /// The journal may hold points of it: they would come back at the next start and hide what was written over them.
    Journal,
    /// No checkpoint says yet that its partition goes by its age, and when.
    Unnoted,
}

impl<M: Medium> Store<M> {
    /// Drops the oldest segment if it has to go, or does what must be done before that; false where none has to. May need
    /// a checkpoint.
    pub(super) fn expire(&mut self) -> Result<bool, StoreError<M::Error>> {
        if self.free_unmissed()? {
            return Ok(true);
        }
        let Some((at, cause)) = self.oldest_to_go() else { return Ok(false) };
        match self.obstacle(at, cause) {
            Some(obstacle) => self.clear(obstacle, at, cause)?,
            None => self.drop_segment(at)?,
        }
        Ok(true)
    }

    /// Drops the oldest segments that have to go, up to the first one that has something in its way.
    pub(super) fn expire_unhindered(&mut self) -> Result<(), StoreError<M::Error>> {
        loop {
            if self.free_unmissed()? {
                continue;
            }
            match self.oldest_to_go() {
                Some((at, cause)) if self.obstacle(at, cause).is_none() => self.drop_segment(at)?,
                _ => return Ok(()),
            }
        }
    }

    /// The segment that has to go next.
    fn oldest_to_go(&self) -> Option<(usize, Cause)> {
        if self.is_too_much() {
            return self.oldest_from(i64::MIN).map(|at| (at, Cause::Bytes));
        }
        self.oldest_from(UNSET_NS).filter(|at| self.is_too_old(*at)).map(|at| (at, Cause::Age))
    }

    /// The lowest in partition and rank of those whose partition begins at `begin` or later.
    fn oldest_from(&self, begin: i64) -> Option<usize> {
        let key = |at: &usize| {
            let header = &self.segments[*at].header;
            (header.partition.begin, header.rank)
        };
        let is_data = |at: &usize| {
            let header = &self.segments[*at].header;
            header.kind != SegmentKind::Tombstones && header.partition.begin >= begin
        };
        (0..self.segments.len()).filter(is_data).min_by_key(key)
    }

    fn is_too_old(&self, at: usize) -> bool {
        let (Some(now), Some(keep)) = (self.now_ns, self.config.retention_ns) else { return false };
        let partition = self.segments[at].header.partition;
        let is_next = self.chores.aged.is_none_or(|aged| {
            aged.begin == partition.begin || now.saturating_sub(aged.since_ns) >= AGED_INTERVAL_NS
        });
        is_next && partition.end.checked_add(keep).is_some_and(|end| end <= now)
    }

    /// What is in the way of a segment that has to go.
    fn obstacle(&self, at: usize, cause: Cause) -> Option<Obstacle> {
        let file = &self.segments[at];
        let (range, rank) = (file.header.partition, file.header.rank);
        let is_below = |open: &OpenPartition<M::Device>| {
            let header = open.segment.as_ref().map(|segment| &segment.file.header);
            header.is_some_and(|header| header.rank < rank && header.partition.overlaps(range))
        };
        if let Some(below) = self.open.iter().position(is_below) {
            return Some(Obstacle::Below(below));
        }
        if self.chores.sealing.is_some() || self.is_protected(file) {
            return Some(Obstacle::Journal);
        }
        let is_noted = self.chores.aged.is_some_and(|aged| aged.begin == range.begin);
        (cause == Cause::Age && !is_noted).then_some(Obstacle::Unnoted)
    }

    /// Whether the journal may hold points of a segment.
    fn is_protected(&self, file: &SegmentFile) -> bool {
        let protected = &self.chores.protected;
        file.header.id.device == self.device
            && (file.header.rank >= protected.rank
                || protected.open.contains(&SegmentNumber::of(&file.header.id)))
    }

    /// Clears what is in the way: a checkpoint, and what has to come before it.
    fn clear(&mut self, obstacle: Obstacle, at: usize, cause: Cause) -> Result<(), StoreError<M::Error>> {
        if cause == Cause::Age {
            let begin = self.segments[at].header.partition.begin;
            let known = self.chores.aged.filter(|aged| aged.begin == begin);
            self.chores.aged = known.or(self.now_ns.map(|since_ns| Aged { begin, since_ns }));
        }
        if let Obstacle::Below(below) = obstacle {
            self.seal_segment(below)?;
        }
        self.checkpoint_now(false)
    }

    /// Takes a segment away, and a merge that reads it.
    fn drop_segment(&mut self, at: usize) -> Result<(), StoreError<M::Error>> {
        // Inputs of a merge must not outlive its result.
        self.unlink_spent()?;
        let file = self.segments.remove(at);
        self.chores.give_up_merge_of(&SegmentNumber::of(&file.header.id), &mut self.medium);
        self.chores.spent.push(file);
        self.unlink_spent()
    }
}
