//! Which segments are worth merging.
//!
//! Neighbours in rank of alike size first, so that a late point is written again a logarithmic number of times; then
//! a segment of which much is dead. Everything within a budget, a share of what ever came in, which bounds write
//! amplification whatever the disorder.

use core::ops::Range;

use crate::store::written::Written;

/// Tenths of the budget for neighbours of alike size. They save files, and some room; the rest is for what
/// somebody waits for.
const ALIKE_TENTHS: u64 = 3;

/// Segments of one merge at most: bounds its open files and memory.
const NEIGHBOURS_MAX: usize = 16;
/// How many times larger one of them may be than another.
const SIZE_RATIO_MAX: u64 = 4;
/// Below this many blocks all sizes are alike: headers and tails are most of such a segment.
const SMALL_BLOCKS: u64 = 16;
/// A segment is rewritten alone where more than one in this many of its rows are dead.
const DEAD_SHARE: u64 = 10;

/// Blocks that merges may still write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Budget {
    alike: u64,
    all: u64,
}

impl Budget {
    /// What is left of `percent` of everything that ever came in as segments. It is counted since the store was made, so
    /// that no restart renews it.
    pub(in crate::store) fn of(written: &Written, percent: u64, segment_blocks_max: u64) -> Self {
        let came_in = written.leaves.saturating_add(written.nodes).saturating_add(written.tails);
        let tenth = came_in.saturating_mul(percent) / 1_000;
        let left = |tenths: u64| tenth.saturating_mul(tenths).saturating_sub(written.merges);
        // No result is larger than two segments, so that dropping one frees no more than that.
        let result_max = segment_blocks_max.saturating_mul(2);
        Self { alike: left(ALIKE_TENTHS), all: left(10) }.within(result_max)
    }

    /// The same where no more than this may be written at once.
    pub(in crate::store) fn within(self, blocks_max: u64) -> Self {
        Self { alike: self.alike.min(blocks_max), all: self.all.min(blocks_max) }
    }
}

/// A segment as the choice sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct Candidate {
    /// Blocks of the file.
    pub(in crate::store) blocks: u64,
    /// Rows, and how many of them tombstones hide.
    pub(in crate::store) rows: u64,
    /// Rows that no question sees any more.
    pub(in crate::store) dead_rows: u64,
    /// Whether it may be read and taken away: sealed, whole, and this store's own.
    pub(in crate::store) is_mergeable: bool,
    /// Whether its points came in the order of their times.
    pub(in crate::store) is_in_order: bool,
}

/// Picks neighbours among the segments of one partition, which are in the order of ranks: at least
/// `neighbours_min` of them; or one that is to be rewritten. Within the budget, which their result may need as a whole.
pub(in crate::store) fn choose(
    segments: &[Candidate],
    neighbours_min: usize,
    is_wasteful: bool,
    budget: Budget,
) -> Option<Range<usize>> {
    let blocks =
        |range: &Range<usize>| segments[range.clone()].iter().map(|segment| segment.blocks).sum::<u64>();
    let alike = (0..segments.len()).filter_map(|begin| {
        let range = begin..begin + alike_from(&segments[begin..]);
        (range.len() >= neighbours_min.max(2)).then_some(range)
    });
    // The most segments for the least bytes.
    let cost = |range: &Range<usize>| blocks(range) / range.len() as u64;
    let dead = (0..segments.len()).map(|at| at..at + 1).filter(|range| {
        let segment = &segments[range.start];
        segment.is_mergeable && segment.dead_rows.saturating_mul(DEAD_SHARE) > segment.rows
    });
    let alike = alike.filter(|range| blocks(range) <= budget.alike).min_by_key(cost);
    let one = || if is_wasteful { overlapping(segments, budget.all) } else { None };
    alike.or_else(one).or_else(|| dead.filter(|range| blocks(range) <= budget.all).min_by_key(cost))
}

/// The most neighbours, of at most `blocks_max` together, some of them in order and some not.
fn overlapping(segments: &[Candidate], blocks_max: u64) -> Option<Range<usize>> {
    let from = |begin: usize| {
        let (mut blocks, mut in_order, mut end) = (0_u64, 0, begin);
        let mut best = None;
        for segment in segments[begin..].iter().take(NEIGHBOURS_MAX) {
            blocks = blocks.saturating_add(segment.blocks);
            if !segment.is_mergeable || blocks > blocks_max {
                break;
            }
            end += 1;
            in_order += usize::from(segment.is_in_order);
            if (1..end - begin).contains(&in_order) {
                best = Some(begin..end);
            }
        }
        best
    };
    (0..segments.len()).filter_map(from).max_by_key(ExactSizeIterator::len)
}

/// How many segments from the first on are mergeable and of alike size.
fn alike_from(segments: &[Candidate]) -> usize {
    let (mut smallest, mut largest) = (u64::MAX, 0);
    let is_alike = |segment: &&Candidate| {
        let size = segment.blocks.max(SMALL_BLOCKS);
        (smallest, largest) = (smallest.min(size), largest.max(size));
        segment.is_mergeable && largest <= smallest.saturating_mul(SIZE_RATIO_MAX)
    };
    segments.iter().take(NEIGHBOURS_MAX).take_while(is_alike).count()
}

#[cfg(test)]
mod tests {
    use super::{Budget, Candidate, choose};
    use crate::store::written::Written;

    fn segments(blocks: &[u64]) -> Vec<Candidate> {
        let segment = |blocks: &u64| Candidate {
            blocks: *blocks,
            rows: 100,
            is_mergeable: true,
            ..Candidate::default()
        };
        blocks.iter().map(segment).collect()
    }

    fn blocks(alike: u64) -> Budget {
        Budget { alike, all: alike }
    }

    #[test]
    fn the_budget_is_a_share_of_what_came_in() {
        let written = Written { journal: 9_999, leaves: 600, nodes: 100, tails: 300, merges: 50 };
        assert_eq!(Budget::of(&written, 40, 1_000), Budget { alike: 70, all: 350 });
        assert_eq!(Budget::of(&Written { merges: 200, ..written }, 40, 1_000), Budget { alike: 0, all: 200 });
        assert_eq!(Budget::of(&written, 40, 40), Budget { alike: 70, all: 80 });
    }

    #[test]
    fn alike_neighbours_are_merged() {
        assert_eq!(choose(&segments(&[3, 3, 4]), 4, false, blocks(4_000)), None, "too few");
        assert_eq!(choose(&segments(&[9_000, 3, 3, 4, 3]), 4, false, blocks(4_000)), Some(1..5));
        assert_eq!(
            choose(&segments(&[3, 3, 900, 4, 3]), 4, false, blocks(4_000)),
            None,
            "a large one lies between"
        );
        assert_eq!(
            choose(&segments(&[100; 40]), 4, false, blocks(40_000)).map(|range| range.len()),
            Some(16)
        );
        assert_eq!(choose(&segments(&[3]), 1, false, blocks(40_000)), None, "one alone is no merge");
    }

    #[test]
    fn the_budget_bounds_everything() {
        assert_eq!(choose(&segments(&[3, 3, 4, 3]), 4, false, blocks(12)), None);
        assert_eq!(choose(&segments(&[3, 3, 4, 3]), 4, false, blocks(13)), Some(0..4));
    }

    #[test]
    fn where_reads_are_wasted_segments_in_order_are_merged_too() {
        let mut all = segments(&[400, 5, 6, 300, 7]);
        (all[0].is_in_order, all[3].is_in_order) = (true, true);
        assert_eq!(choose(&all, 4, false, blocks(4_000)), None);
        assert_eq!(choose(&all, 4, true, blocks(4_000)), Some(0..5));
        assert_eq!(choose(&all, 4, true, blocks(500)), Some(1..5), "the most segments");
        assert_eq!(choose(&all, 4, true, blocks(290)), None);
        all[1].is_mergeable = false;
        assert_eq!(choose(&all, 4, true, blocks(4_000)), Some(2..5));
        assert_eq!(
            choose(&segments(&[400, 5]), 4, true, blocks(4_000)),
            None,
            "nothing in order, nothing to mend"
        );
    }

    #[test]
    fn what_is_mostly_dead_is_rewritten_alone() {
        let mut all = segments(&[900, 900]);
        all[1].dead_rows = 10;
        assert_eq!(choose(&all, 4, false, blocks(4_000)), None);
        all[1].dead_rows = 11;
        assert_eq!(choose(&all, 4, false, blocks(4_000)), Some(1..2));
        all[1].is_mergeable = false;
        assert_eq!(choose(&all, 4, false, blocks(4_000)), None);
    }
}
