//! Which spans of a series are hidden from points of a rank.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::point::TimeRange;
use crate::segment::SegmentNumber;
use crate::series::SeriesName;

/// A tombstone segment with its names.
#[derive(Debug)]
pub(in crate::store) struct Tombstone {
    /// Which segment it is.
    pub(in crate::store) segment: SegmentNumber,
    /// It hides what has a lower rank.
    pub(in crate::store) rank: u64,
    /// What was deleted.
    pub(in crate::store) span: TimeRange,
    /// Of which series.
    pub(in crate::store) names: BTreeSet<SeriesName>,
}

/// The spans of `series` that are hidden from points of `rank`.
pub(super) fn hidden(tombstones: &[Tombstone], series: &SeriesName, rank: u64) -> Vec<TimeRange> {
    let hides = |tombstone: &&Tombstone| tombstone.rank > rank && tombstone.names.contains(series);
    tombstones.iter().filter(hides).map(|tombstone| tombstone.span).collect()
}
