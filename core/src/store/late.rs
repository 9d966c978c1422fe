//! Late points that wait for the next checkpoint: in the journal and here, sorted, last write wins.

use alloc::collections::BTreeMap;

use super::owned_value::OwnedValue;
use super::partition::Partition;

/// What a point costs besides its text: key, value and its share of the tree.
const POINT_BYTES: usize = 64;

/// The late points of one partition.
#[derive(Debug)]
pub(super) struct LatePartition {
    pub(super) partition: Partition,
    pub(super) points: BTreeMap<(u32, i64), OwnedValue>,
}

/// All late points that are in no segment.
#[derive(Debug, Default)]
pub(super) struct LatePoints {
    partitions: BTreeMap<i64, LatePartition>,
    bytes: usize,
}

impl LatePoints {
    /// Puts a point, in place of one with the same series and time; true where there was one.
    pub(super) fn put(
        &mut self,
        partition: Partition,
        series: u32,
        timestamp: i64,
        value: OwnedValue,
    ) -> bool {
        let entry = self.partitions.entry(partition.range.begin);
        let late = entry.or_insert_with(|| LatePartition { partition, points: BTreeMap::new() });
        self.bytes += value.heap_len();
        match late.points.insert((series, timestamp), value) {
            Some(old) => {
                self.bytes = self.bytes.saturating_sub(old.heap_len());
                true
            }
            None => {
                self.bytes += POINT_BYTES;
                false
            }
        }
    }

    /// Bytes of memory, nearly.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many points wait for a partition.
    pub(super) fn count_in(&self, partition: &Partition) -> usize {
        self.partitions.get(&partition.range.begin).map_or(0, |late| late.points.len())
    }

    /// All points.
    pub(super) fn count(&self) -> usize {
        self.partitions.values().map(|late| late.points.len()).sum()
    }

    /// The partitions that have some.
    pub(super) fn iter(&self) -> impl Iterator<Item = &LatePartition> {
        self.partitions.values()
    }

    /// The points of the partition that begins at `begin`.
    pub(super) fn get(&self, begin: i64) -> Option<&LatePartition> {
        self.partitions.get(&begin)
    }

    /// Forgets a partition's points: they are in a segment now.
    pub(super) fn remove(&mut self, begin: i64) {
        if let Some(late) = self.partitions.remove(&begin) {
            let text: usize = late.points.values().map(OwnedValue::heap_len).sum();
            self.bytes = self.bytes.saturating_sub(text + late.points.len() * POINT_BYTES);
        }
    }
}
