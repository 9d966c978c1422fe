//! Where swept rows and subtrees go: into columns of points, or into buckets.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use super::bucket::Bucket;
use super::column::Column;
use super::filter::Filter;
use super::group::Group;
use super::part::{Part, Slice};
use super::question::Order;
use super::slots::Slot;
use crate::codec::Chunk;
use crate::point::TimeRange;
use crate::tree::Summary;

/// Buckets of a batch, about.
const BUCKETS_MAX: usize = 1024;
/// Rows below which merged rows are collected before they are summed up.
const ROWS_DIRECT_MIN: usize = 16;

/// What the sweep of one series gives.
#[derive(Debug)]
pub(super) enum Sink {
    Points {
        column: Column,
        order: Order,
        /// Rows that may still be given.
        left: u64,
        is_full: bool,
    },
    Buckets {
        group: Box<Group>,
        /// Rows of one slot that were not summed up yet.
        column: Column,
        slot: Slot,
        /// Buckets that may still be given.
        left: u64,
    },
}

/// Rows of a batch.
#[derive(Clone, Debug)]
pub enum Rows {
    /// Points in the order asked for; the kind of value is the same for all of them.
    Points(Chunk),
    /// Buckets in the order of time; empty ones are left out.
    Buckets(Vec<Bucket>),
}

impl Rows {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Points(chunk) => chunk.len(),
            Self::Buckets(buckets) => buckets.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Sink {
    pub(super) fn points(order: Order, left: u64) -> Self {
        Self::Points { column: Column::default(), order, left, is_full: false }
    }

    pub(super) fn buckets(group: Group, left: u64) -> Self {
        Self::Buckets { group: Box::new(group), column: Column::default(), slot: Slot::Before, left }
    }

    /// Whether it must be emptied before it takes more.
    pub(super) fn is_full(&self) -> bool {
        match self {
            Self::Points { is_full, .. } => *is_full,
            Self::Buckets { group, left, .. } => {
                group.ready.len() >= BUCKETS_MAX || group.ready.len() as u64 >= (*left).max(1)
            }
        }
    }

    /// Whether nothing that follows counts.
    pub(super) fn is_satisfied(&self) -> bool {
        match self {
            Self::Points { left, column, .. } => column.len() as u64 >= *left,
            Self::Buckets { group, left, .. } => group.is_satisfied() || *left == 0,
        }
    }

    /// Whether nothing from this place on counts: no bucket is there, and no value is held until there.
    pub(super) fn is_over(&mut self, place: i64) -> bool {
        if let Self::Buckets { group, .. } = self
            && group.slots.of(place) == Slot::Behind
        {
            self.settle();
        }
        match self {
            Self::Points { .. } => false,
            Self::Buckets { group, .. } => group.slots.of(place) == Slot::Behind && !group.is_held(),
        }
    }

    /// The slot and the part of a subtree, where its summary is enough.
    pub(super) fn part_of(&self, summary: &Summary) -> Option<(Slot, Part)> {
        let Self::Buckets { group, .. } = self else { return None };
        let last = summary.end.checked_sub(1)?;
        let (begin_slot, end_slot) = (group.slots.of(summary.begin), group.slots.of(last));
        if begin_slot == end_slot {
            let needs = if matches!(begin_slot, Slot::At(_)) { group.needs } else { Default::default() };
            return Some((begin_slot, Part::of_summary(summary, needs)?));
        }
        let is_short = || {
            summary
                .end
                .checked_sub(summary.begin)
                .zip(group.slots.step_ns())
                .is_some_and(|(ns, step)| ns <= step)
        };
        if group.is_snapped && group.slots.range().covers(summary.span()) && is_short() {
            return Some((begin_slot, Part::of_summary(summary, group.needs)?));
        }
        None
    }

    /// Takes a subtree that lies behind everything before.
    pub(super) fn push(&mut self, slot: Slot, part: Part) {
        self.settle();
        if let Self::Buckets { group, .. } = self {
            group.push(slot, part);
        }
    }

    /// Takes rows that lie behind everything before; gives how many of them were taken, none only
    /// where it is full.
    pub(super) fn push_rows(&mut self, chunk: &Chunk, rows: Range<usize>, filter: Option<&Filter>) -> usize {
        match self {
            Self::Points { column, order, left, is_full } => {
                let room = usize::try_from(left.saturating_sub(column.len() as u64)).unwrap_or(usize::MAX);
                if !column.takes(chunk) || room == 0 {
                    *is_full = true;
                    return 0;
                }
                column.append(chunk, rows, filter, *order == Order::Backward, room).0
            }
            Self::Buckets { group, .. } => {
                // All rows of the first row's slot; the sweep comes back for the others.
                let timestamps = chunk.timestamps.get(rows.clone()).unwrap_or_default();
                let Some(first) = timestamps.first() else { return rows.len() };
                let new_slot = group.slots.of(*first);
                let end = group.slots.span(new_slot).end;
                let count = timestamps.partition_point(|at| *at < end);
                self.push_slot(chunk, rows.start..rows.start.saturating_add(count), filter, new_slot)
            }
        }
    }

    fn push_slot(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        filter: Option<&Filter>,
        new_slot: Slot,
    ) -> usize {
        if let Self::Buckets { column, slot, .. } = self
            && !column.is_empty()
            && (*slot != new_slot || !column.takes(chunk))
        {
            self.settle();
        }
        let Self::Buckets { group, column, slot, .. } = self else { return 0 };
        *slot = new_slot;
        if filter.is_none() && column.is_empty() && rows.len() >= ROWS_DIRECT_MIN {
            let mut texts = Vec::new();
            let mut slice = Slice::default();
            let some = slice.of(&chunk.rows(&mut texts), rows.start, rows.end);
            let part = Part::of_rows(&some, group.needs, group.laws());
            group.push(new_slot, part);
            return rows.len();
        }
        column.append(chunk, rows, filter, false, usize::MAX).0
    }

    /// Sums up the rows that were collected.
    fn settle(&mut self) {
        if let Self::Buckets { group, column, slot, .. } = self
            && !column.is_empty()
        {
            let chunk = column.take();
            let mut texts = Vec::new();
            let part = Part::of_rows(&chunk.rows(&mut texts), group.needs, group.laws());
            group.push(*slot, part);
        }
    }

    /// Rows that are still missing up to the limit, where rows are points.
    pub(super) fn rows_left(&self) -> u64 {
        match self {
            Self::Points { column, left, .. } => left.saturating_sub(column.len() as u64).max(1),
            Self::Buckets { .. } => u64::MAX,
        }
    }

    /// Notes that what lies in `span` could not be read.
    pub(super) fn note_damage(&mut self, span: TimeRange) {
        if let Self::Buckets { group, .. } = self {
            group.note_damage(span);
        }
    }

    /// Tells it that the series has no more.
    pub(super) fn end(&mut self) {
        self.settle();
        if let Self::Buckets { group, .. } = self {
            group.end();
        }
    }

    /// What is ready; counts against the limit.
    pub(super) fn take(&mut self) -> Rows {
        match self {
            Self::Points { column, left, is_full, .. } => {
                let chunk = column.take();
                *left = left.saturating_sub(chunk.len() as u64);
                *is_full = false;
                Rows::Points(chunk)
            }
            Self::Buckets { group, left, .. } => {
                let mut buckets = core::mem::take(&mut group.ready);
                buckets.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
                *left = left.saturating_sub(buckets.len() as u64);
                Rows::Buckets(buckets)
            }
        }
    }

    /// Rows that may still be given.
    pub(super) const fn left(&self) -> u64 {
        match self {
            Self::Points { left, .. } | Self::Buckets { left, .. } => *left,
        }
    }
}
