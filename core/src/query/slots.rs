//! Which bucket an instant falls into, and where a bucket begins and ends.
//!
//! Before the first bucket and behind the last there is one slot each: what lies there is not answered,
//! but a value may be held from there or until there.

use super::question::{Buckets, Question, Task};
use crate::point::TimeRange;

/// A bucket, or what lies around all of them; in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    Before,
    /// Number of the bucket: of steps from the origin, or of the edge it begins at.
    At(i128),
    Behind,
}

/// The buckets of a question.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    buckets: Buckets,
    /// What is answered.
    range: TimeRange,
}

impl Slots {
    /// The buckets of `question`, from the instant on at which it resumes, if it does.
    pub(super) fn new(question: &Question, range: TimeRange) -> Self {
        let buckets = match &question.task {
            Task::Group { buckets, .. } => buckets.clone(),
            Task::Select(_) => Buckets::Whole,
        };
        let range = match &buckets {
            Buckets::Edges(edges) => match (edges.first(), edges.last()) {
                (Some(first), Some(last)) => range.intersect(TimeRange::new(*first, *last)),
                _ => TimeRange::new(0, 0),
            },
            _ => range,
        };
        Self { buckets, range }
    }

    /// What is answered.
    pub(super) const fn range(&self) -> TimeRange {
        self.range
    }

    /// The length of a step, where the buckets are steps.
    pub(super) const fn step_ns(&self) -> Option<i64> {
        match self.buckets {
            Buckets::Step { step_ns, .. } => Some(step_ns),
            _ => None,
        }
    }

    /// The slot of an instant.
    pub(super) fn of(&self, at_ns: i64) -> Slot {
        if at_ns < self.range.begin {
            return Slot::Before;
        }
        if at_ns >= self.range.end {
            return Slot::Behind;
        }
        Slot::At(match &self.buckets {
            Buckets::Whole => 0,
            Buckets::Step { origin_ns, step_ns } => {
                (i128::from(at_ns) - i128::from(*origin_ns)).div_euclid(i128::from(*step_ns).max(1))
            }
            Buckets::Edges(edges) => edges.partition_point(|edge| *edge <= at_ns) as i128 - 1,
        })
    }

    /// The span of a slot.
    pub(super) fn span(&self, slot: Slot) -> TimeRange {
        let number = match slot {
            Slot::Before => return TimeRange::new(i64::MIN, self.range.begin),
            Slot::Behind => return TimeRange::new(self.range.end, i64::MAX),
            Slot::At(number) => number,
        };
        let span = match &self.buckets {
            Buckets::Whole => self.range,
            Buckets::Step { origin_ns, step_ns } => {
                let (origin, step) = (i128::from(*origin_ns), i128::from(*step_ns));
                let begin = number.saturating_mul(step).saturating_add(origin);
                TimeRange::new(clamp(begin), clamp(begin.saturating_add(step)))
            }
            Buckets::Edges(edges) => {
                let begin = usize::try_from(number).unwrap_or(usize::MAX);
                let edge = |at: usize| edges.get(at).copied().unwrap_or(i64::MAX);
                TimeRange::new(edge(begin), edge(begin.saturating_add(1)))
            }
        };
        span.intersect(self.range)
    }

    /// The slot behind `slot`.
    pub(super) fn next(&self, slot: Slot) -> Slot {
        match slot {
            Slot::Before => self.of(self.range.begin),
            Slot::At(_) => self.of(self.span(slot).end),
            Slot::Behind => Slot::Behind,
        }
    }
}

fn clamp(wide: i128) -> i64 {
    i64::try_from(wide).unwrap_or(if wide < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::{Slot, Slots};
    use crate::point::TimeRange;
    use crate::query::{Buckets, Question};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slots_tile_time(
            begin in any::<i64>(), len in 1_i64..500, origin_ns in any::<i64>(), step_ns in 1_i64..90,
            edges in proptest::collection::btree_set(-40_i64..600, 2..9), kind in 0..3,
        ) {
            let begin = begin.clamp(i64::MIN / 2, i64::MAX / 2);
            let buckets = match kind {
                0 => Buckets::Whole,
                1 => Buckets::Step { origin_ns, step_ns },
                _ => Buckets::Edges(edges.iter().map(|edge| begin + edge).collect()),
            };
            let range = TimeRange::new(begin, begin + len);
            let slots = Slots::new(&Question::group(range, buckets, []), range);
            let mut slot = Slot::Before;
            let mut end = slots.span(slot).end;
            prop_assert_eq!(end, slots.range().begin);
            while !slots.range().is_empty() && slot != Slot::Behind {
                slot = slots.next(slot);
                let span = slots.span(slot);
                prop_assert_eq!(span.begin, end);
                prop_assert!(!span.is_empty());
                prop_assert_eq!(slots.of(span.begin), slot);
                prop_assert_eq!(slots.of(span.end - 1), slot);
                end = span.end;
            }
        }
    }
}
