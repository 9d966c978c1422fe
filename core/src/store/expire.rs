//! Retention: whole segments go, the oldest first, when there are too many bytes or they are too old.
//!
//! Dropping writes nothing but a directory, so it works on a full medium. Ages are measured by trusted time only,
//! and free at most one partition an hour: a clock that is wrong in spite of all costs little before it
//! is seen.

use super::device::Medium;
use super::error::StoreError;
use super::open_partition::OpenPartition;
use super::running::Store;
use super::segment_file::SegmentFile;
use crate::block::BLOCK_LEN;
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

impl<M: Medium> Store<M> {
    /// Bytes of all segment files, the space included that those which are written have ahead.
    pub fn segment_bytes(&self) -> u64 {
        let stored: u64 = self.segments.iter().map(|file| u64::from(file.block_count)).sum();
        let open = self.open.iter().filter_map(|open| open.segment.as_ref());
        let sealing = self.chores.sealing.iter();
        let written: u64 = open.chain(sealing).map(|segment| u64::from(segment.file_blocks())).sum();
        (stored + written) * BLOCK_LEN as u64
    }

    /// Drops the oldest segment if it has to go; false where none has. A segment that the journal holds points of
    /// waits for a checkpoint, so that they do not come back at the next start and hide what was
    /// written over them.
    pub(super) fn expire(&mut self, may_checkpoint: bool) -> Result<bool, StoreError<M::Error>> {
        let at = if self.is_too_much() {
            self.oldest_from(i64::MIN)
        } else {
            self.oldest_from(UNSET_NS).filter(|at| self.is_too_old(*at))
        };
        let Some(at) = at else { return Ok(false) };
        let file = &self.segments[at];
        let (range, rank) = (file.header.partition, file.header.rank);
        let is_below = |open: &OpenPartition<M::Device>| {
            let header = open.segment.as_ref().map(|segment| &segment.file.header);
            header.is_some_and(|header| header.rank < rank && header.partition.overlaps(range))
        };
        let below = self.open.iter().position(is_below);
        if below.is_some() || self.chores.sealing.is_some() || self.is_protected(file) {
            // What ranks lower may not outlive it: that would bring back what was written over.
            if may_checkpoint {
                if let Some(below) = below {
                    self.segments.extend(self.open[below].seal_segment(&mut self.written)?);
                }
                self.checkpoint_now(false)?;
            }
            return Ok(may_checkpoint);
        }
        // Inputs of a merge must not outlive its result either.
        self.unlink_spent()?;
        let file = self.segments.remove(at);
        if let Some(now) = self.now_ns.filter(|_| !self.is_too_much()) {
            let begin = file.header.partition.begin;
            let aged = self.chores.aged.filter(|(known, _)| *known == begin);
            self.chores.aged = aged.or(Some((begin, now)));
        }
        let number = SegmentNumber::of(&file.header.id);
        self.chores.give_up_merge_of(&number, &mut self.medium);
        self.chores.spent.push(file);
        self.unlink_spent()?;
        Ok(true)
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

    fn is_too_much(&self) -> bool {
        self.config.retention_bytes.is_some_and(|bytes| self.segment_bytes() > bytes)
    }

    fn is_too_old(&self, at: usize) -> bool {
        let (Some(now), Some(keep)) = (self.now_ns, self.config.retention_ns) else { return false };
        let partition = self.segments[at].header.partition;
        let is_next = self.chores.aged.is_none_or(|(begin, since)| {
            begin == partition.begin || now.saturating_sub(since) >= AGED_INTERVAL_NS
        });
        is_next && partition.end.saturating_add(keep) <= now
    }

    /// Whether the journal may hold points of a segment.
    fn is_protected(&self, file: &SegmentFile) -> bool {
        let protected = &self.chores.protected;
        file.header.id.device == self.device
            && (file.header.rank >= protected.rank
                || protected.open.contains(&SegmentNumber::of(&file.header.id)))
    }
}
