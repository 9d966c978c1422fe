//! Late points that wait for a segment of their own: in the journal and here; of those with one time the last counts.
//!
//! They are many and of many series where a device tells its past, and each series' points come nearly in order then.
//! So they are kept as they come, a list a series, and sorted when somebody reads them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::owned_value::OwnedValue;
use super::partition::Partition;

/// What a series costs besides its points: its list, its place in the tree, and what the heap adds.
const SERIES_BYTES: usize = 96;
/// What a point costs besides its text.
const POINT_BYTES: usize = size_of::<Row>();

type Row = (i64, OwnedValue);

/// The late points of one partition.
#[derive(Debug)]
pub(super) struct LatePartition {
    pub(super) partition: Partition,
    /// By the store's number of the series.
    series: BTreeMap<u32, Vec<Row>>,
    bytes: usize,
}

impl LatePartition {
    fn put(&mut self, series: u32, at: i64, value: OwnedValue) {
        let rows = self.series.entry(series).or_insert_with(|| {
            self.bytes += SERIES_BYTES;
            Vec::new()
        });
        if rows.len() == rows.capacity() {
            let before = rows.capacity();
            rows.reserve_exact(1 + rows.len() / 3);
            self.bytes += (rows.capacity() - before) * POINT_BYTES;
        }
        self.bytes += value.heap_len();
        rows.push((at, value));
    }

    /// The series that have points.
    pub(super) fn series(&self) -> impl Iterator<Item = u32> {
        self.series.keys().copied()
    }

    /// The points of a series that count, in the order of time.
    pub(super) fn rows(&self, series: u32) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.series.get(&series).into_iter().flatten().collect();
        // Stable, so that of equal times the last one that came stands last.
        rows.sort_by_key(|(at, _)| *at);
        let mut counting: Vec<&Row> = Vec::with_capacity(rows.len());
        for row in rows {
            match counting.last_mut() {
                Some(last) if last.0 == row.0 => *last = row,
                _ => counting.push(row),
            }
        }
        counting
    }
}

/// All late points that are in no segment.
#[derive(Debug, Default)]
pub(super) struct LatePoints {
    partitions: BTreeMap<i64, LatePartition>,
}

impl LatePoints {
    /// Puts a point, which counts in place of one with the same series and time.
    pub(super) fn put(&mut self, partition: Partition, series: u32, timestamp: i64, value: OwnedValue) {
        let new = || LatePartition { partition, series: BTreeMap::new(), bytes: 0 };
        self.partitions.entry(partition.range.begin).or_insert_with(new).put(series, timestamp, value);
    }

    /// Bytes of memory, nearly.
    pub(super) fn bytes(&self) -> usize {
        self.partitions.values().map(|late| late.bytes).sum()
    }

    /// Whether points wait for a partition.
    pub(super) fn has_some_in(&self, partition: &Partition) -> bool {
        self.partitions.contains_key(&partition.range.begin)
    }

    /// Partitions that have some.
    pub(super) fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// All points, those that others took the place of included.
    pub(super) fn count(&self) -> usize {
        self.partitions.values().flat_map(|late| late.series.values()).map(Vec::len).sum()
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
        self.partitions.remove(&begin);
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;

    use proptest::prelude::{any, prop, proptest};

    use super::LatePoints;
    use crate::point::Value;
    use crate::store::owned_value::OwnedValue;
    use crate::store::partition::{Partition, PartitionSpan};

    proptest! {
        #[test]
        fn they_are_what_a_map_holds(points in prop::collection::vec((0_u32..4, -20_i64..20, any::<i64>()), 0..200)) {
            let partition = Partition::of(PartitionSpan::Year, 0);
            let (mut late, mut map) = (LatePoints::default(), BTreeMap::new());
            for (series, at, value) in &points {
                late.put(partition, *series, *at, Value::Integer(*value).into());
                map.insert((*series, *at), OwnedValue::Integer(*value));
            }
            let found: Vec<((u32, i64), OwnedValue)> = late
                .iter()
                .flat_map(|late| late.series().map(move |series| (series, late.rows(series))))
                .flat_map(|(series, rows)| rows.into_iter().map(move |(at, value)| ((series, *at), value.clone())))
                .collect();
            assert_eq!(found, map.into_iter().collect::<Vec<_>>());
            assert_eq!(late.count(), points.len());
            assert!(late.bytes() >= points.len() * size_of::<(i64, OwnedValue)>());
            late.remove(partition.range.begin);
            assert_eq!((late.bytes(), late.count(), late.has_some_in(&partition)), (0, 0, false));
        }
    }
}
