//! Reads that waste: partitions in which questions decode much that one segment would spare them.
//!
//! Who asks tells the store what it read. Where of a thousand blocks more than a quarter of the points were decoded for
//! nothing, because segments overlap or rows are dead, the partition is worth a merge of segments in order,
//! which nothing else is. `docs/decisions/0013-wasted-reads.md`.

use alloc::collections::{BTreeMap, BTreeSet};

use super::device::Medium;
use super::running::Store;
use crate::point::TimeRange;

/// Blocks after which it is judged.
const BLOCKS_MIN: u64 = 1_000;
/// More than one in so many points decoded for nothing is too much.
const SHARE: u64 = 4;
/// Partitions of which reads are counted at once.
const PARTITIONS_MAX: usize = 1_024;

/// What was read in a partition since it was last judged.
#[derive(Clone, Copy, Debug, Default)]
struct Reads {
    blocks: u64,
    decoded: u64,
    wasted: u64,
}

/// What is known of reads, by the begins of partitions.
#[derive(Debug, Default)]
pub(super) struct Waste {
    reads: BTreeMap<i64, Reads>,
    wasteful: BTreeSet<i64>,
}

impl Waste {
    /// Notes reads; true where the partition is wasteful by that.
    fn note(&mut self, begin: i64, more: Reads) -> bool {
        if self.reads.len() >= PARTITIONS_MAX && !self.reads.contains_key(&begin) {
            self.reads.clear();
        }
        let reads = self.reads.entry(begin).or_default();
        reads.blocks = reads.blocks.saturating_add(more.blocks);
        reads.decoded = reads.decoded.saturating_add(more.decoded);
        reads.wasted = reads.wasted.saturating_add(more.wasted);
        if reads.blocks < BLOCKS_MIN {
            return false;
        }
        let is_wasteful = reads.wasted.saturating_mul(SHARE) > reads.decoded;
        self.reads.remove(&begin);
        if is_wasteful {
            self.wasteful.insert(begin);
        } else {
            self.wasteful.remove(&begin);
        }
        is_wasteful
    }

    /// Whether questions waste reads in the partition that begins at `begin`.
    pub(super) fn is_in(&self, begin: i64) -> bool {
        self.wasteful.contains(&begin)
    }

    /// Segments of the partition were merged: what was counted says nothing any more.
    pub(super) fn forget(&mut self, begin: i64) {
        self.reads.remove(&begin);
        self.wasteful.remove(&begin);
    }
}

impl<M: Medium> Store<M> {
    /// A question read `blocks` of a partition and decoded `decoded` points, of which it would have been spared `wasted`
    /// if the partition were one segment. Idle time goes by that; nothing is written or promised.
    pub fn note_reads(&mut self, partition: TimeRange, blocks: u64, decoded: u64, wasted: u64) {
        if self.chores.waste.note(partition.begin, Reads { blocks, decoded, wasted }) {
            self.chores.look_again();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Reads, Waste};

    #[test]
    fn a_quarter_of_a_thousand_blocks_is_too_much() {
        let mut waste = Waste::default();
        let reads = |blocks, decoded, wasted| Reads { blocks, decoded, wasted };
        assert!(!waste.note(5, reads(999, 100, 100)) && !waste.is_in(5), "too few to tell");
        assert!(waste.note(5, reads(1, 300, 1)) && waste.is_in(5), "101 of 400");
        assert!(!waste.note(5, reads(1_000, 400, 100)) && !waste.is_in(5), "a quarter is not more than that");
        assert!(waste.note(5, reads(5_000, 1 << 40, 1 << 40)) && !waste.is_in(6));
        waste.forget(5);
        assert!(!waste.is_in(5));
    }
}
