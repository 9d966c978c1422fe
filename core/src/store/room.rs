//! The quota: what the files of segments take together, and what of it may go without a loss.
//!
//! Counted is every block that a file below `segments/` has: of sealed segments, of open ones with the room they have
//! ahead, of a merge in progress, of files that are about to be unlinked, and of those that are none of ours to touch.
//! The quota is kept by the end of every call that writes segments, not in idle time only. A merge in progress may
//! take half a segment above it; what it would need beyond that it does not get. The journal is not in it: its
//! files are made once at their full length.

use super::device::Medium;
use super::error::StoreError;
use super::limits::LATE_BLOCKS_MIN;
use super::running::Store;
use crate::block::BLOCK_LEN;

impl<M: Medium> Store<M> {
    /// Bytes of all files below `segments/`, the space included that those which are written have ahead.
    pub fn segment_bytes(&self) -> u64 {
        self.taken_blocks().saturating_mul(BLOCK_LEN as u64)
    }

    fn taken_blocks(&self) -> u64 {
        let stored = self.segments.iter().chain(&self.chores.spent).map(|file| file.file_blocks);
        let open = self.open.iter().filter_map(|open| open.segment.as_ref());
        let written = open.chain(&self.chores.sealing).map(|segment| segment.file_blocks());
        let known: u64 = stored.chain(written).map(u64::from).sum();
        known + self.chores.part_blocks() + self.chores.foreign_blocks
    }

    fn quota_blocks(&self) -> Option<u64> {
        self.config.retention_bytes.map(|bytes| bytes / BLOCK_LEN as u64)
    }

    /// What a merge may take above the quota while it is in progress.
    fn merge_allowance_blocks(&self) -> u64 {
        u64::from(self.config.segment_blocks_max / 2)
    }

    /// Blocks that the result of a merge which begins now may have.
    pub(super) fn merge_blocks_max(&self) -> u64 {
        let room = |quota: u64| {
            quota.saturating_add(self.merge_allowance_blocks()).saturating_sub(self.taken_blocks())
        };
        self.quota_blocks().map_or(u64::MAX, room)
    }

    /// Whether something has to go for its size.
    pub(super) fn is_too_much(&self) -> bool {
        let allowed = self.chores.part_blocks().min(self.merge_allowance_blocks());
        self.quota_blocks().is_some_and(|quota| self.taken_blocks() > quota.saturating_add(allowed))
    }

    /// Whether the late points that wait are of so many partitions, each of which gets a file of its own, that these would
    /// take more than a segment above the quota before anything can go.
    pub(super) fn is_late_strewn(&self) -> bool {
        let blocks = self.late.partitions().saturating_mul(LATE_BLOCKS_MIN);
        self.config.retention_bytes.is_some() && blocks > self.config.segment_blocks_max as usize
    }

    /// Frees what nobody misses, where there is too much: files of which nothing counts any more, and a merge that
    /// takes more than it was allowed. False where there is no such thing.
    pub(super) fn free_unmissed(&mut self) -> Result<bool, StoreError<M::Error>> {
        if !self.is_too_much() {
            return Ok(false);
        }
        if !self.chores.spent.is_empty() {
            self.unlink_spent()?;
            return Ok(true);
        }
        let is_large = self.chores.part_blocks() > self.merge_allowance_blocks();
        if is_large {
            self.chores.give_up_merge(&mut self.medium);
        }
        Ok(is_large)
    }

    /// Keeps the quota after something was written. Everything given to the store so far must be in the journal and where
    /// it belongs, because this may need a checkpoint.
    pub(super) fn keep_quota(&mut self) -> Result<(), StoreError<M::Error>> {
        let written = self.written.leaves + self.written.nodes + self.written.tails + self.written.merges;
        if self.chores.weighed_at == Some(written) {
            return Ok(());
        }
        while self.is_too_much() && self.expire()? {}
        self.chores.weighed_at = Some(written);
        Ok(())
    }
}
