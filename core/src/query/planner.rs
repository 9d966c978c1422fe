//! Joins wanted blocks into few reads.
//!
//! Blocks that lie near each other are read as one range: a gap of up to 16 KiB is read along where the
//! whole is at most one and a half times what is wanted.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ops::Range;

use super::runs::SegmentHandle;
use crate::tree::VIRTUAL_BLOCK_MIN;

/// Blocks of the longest gap that is read along: 16 KiB.
const GAP_BLOCKS_MAX: u32 = 4;

/// Blocks to fetch: one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    /// The segment.
    pub segment: SegmentHandle,
    /// The first block.
    pub block: u32,
    /// How many blocks from there on.
    pub count: u32,
}

impl Request {
    /// The reads of `ranges` of blocks of a segment.
    pub(super) fn of(segment: SegmentHandle, ranges: Vec<Range<u32>>) -> impl Iterator<Item = Self> {
        let count = |range: &Range<u32>| range.end.saturating_sub(range.start);
        ranges.into_iter().map(move |range| Self { segment, block: range.start, count: count(&range) })
    }
}

/// The reads for the blocks of `wanted`.
pub(super) fn join(wanted: &BTreeSet<(SegmentHandle, u32)>) -> Vec<Request> {
    let mut requests: Vec<(Request, u32)> = Vec::new();
    for &(segment, block) in wanted {
        let joined = requests.last_mut().and_then(|(request, wanted)| {
            let end = request.block.checked_add(request.count)?;
            let gap = block.checked_sub(end).filter(|_| request.segment == segment)?;
            let count = request.count.checked_add(gap)?.checked_add(1)?;
            // Between virtual blocks, which a live store hands in, there is nothing to read.
            let is_real = gap == 0 || block < VIRTUAL_BLOCK_MIN;
            let is_near = gap <= GAP_BLOCKS_MAX && u64::from(count) * 2 <= (u64::from(*wanted) + 1) * 3;
            (is_real && is_near).then(|| {
                request.count = count;
                *wanted += 1;
            })
        });
        if joined.is_none() {
            requests.push((Request { segment, block, count: 1 }, 1));
        }
    }
    requests.into_iter().map(|(request, _)| request).collect()
}

#[cfg(test)]
mod tests {
    use super::{Request, join};
    use crate::query::SegmentHandle;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    fn requests(blocks: &[u32]) -> Vec<(u32, u32)> {
        let wanted = blocks.iter().map(|block| (SegmentHandle(3), *block)).collect();
        join(&wanted).into_iter().map(|request| (request.block, request.count)).collect()
    }

    #[test]
    fn near_blocks_are_read_as_one() {
        assert_eq!(requests(&[1, 2, 3, 5]), [(1, 5)]);
        assert_eq!(requests(&[1, 3]), [(1, 3)]);
        assert_eq!(requests(&[1, 4]), [(1, 1), (4, 1)]);
        let ten: Vec<u32> = (10..20).chain([24, 30]).collect();
        assert_eq!(requests(&ten), [(10, 15), (30, 1)]);
        assert_eq!(requests(&[u32::MAX - 2, u32::MAX]), [(u32::MAX - 2, 1), (u32::MAX, 1)]);
    }

    proptest! {
        #[test]
        fn every_wanted_block_is_read_once(wanted in proptest::collection::btree_set((0_u32..3, 0_u32..200), 0..60)) {
            let wanted: BTreeSet<_> = wanted.into_iter().map(|(s, b)| (SegmentHandle(s), b)).collect();
            let mut read = BTreeSet::new();
            let mut blocks = 0;
            for Request { segment, block, count } in join(&wanted) {
                blocks += count as usize;
                for block in block..block + count {
                    prop_assert!(read.insert((segment, block)));
                }
                prop_assert!(read.contains(&(segment, block)));
            }
            prop_assert!(wanted.is_subset(&read));
            prop_assert!(blocks * 2 <= wanted.len() * 3);
        }
    }
}
