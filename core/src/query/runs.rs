//! The runs of a series: what each segment holds of it, from the front of time on, as far as it is
//! known yet.
//!
//! A run begins as a few references and is opened as a question needs: a node becomes its references,
//! a chunk its rows. Within a run references are disjoint and in the order of time. Of rows of several
//! runs with one timestamp the one of the highest rank counts.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;

use super::damage::Damage;
use super::question::Order;
use crate::block::SegmentId;
use crate::codec::Chunk;
use crate::point::TimeRange;
use crate::tree::Reference;

/// Position of a segment in the list given to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentHandle(pub u32);

/// A segment that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its identity, which every block of it proves.
    pub id: SegmentId,
    /// Its blocks, for the statistics.
    pub blocks: u32,
}

/// What one segment holds of one series.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Which segment.
    pub segment: SegmentHandle,
    /// The number of the series inside it.
    pub series: u32,
    /// Of two points with one timestamp, that of the run with the higher rank counts.
    pub rank: u64,
    /// Nodes or chunks, disjoint, in the order of time; one root, or the open nodes of a live store.
    pub roots: Vec<Reference>,
    /// Spans in which no row of it counts, in order and disjoint: what was deleted later.
    pub hidden: Vec<TimeRange>,
}

/// Rows of a decoded chunk that were not taken yet.
#[derive(Debug)]
pub(super) struct OpenRows {
    pub(super) chunk: Chunk,
    pub(super) left: Range<usize>,
}

/// A run in progress.
#[derive(Debug)]
pub(super) struct RunState {
    pub(super) segment: SegmentHandle,
    pub(super) rank: u64,
    /// Decoded rows, before all references in the order asked for.
    pub(super) rows: Option<OpenRows>,
    /// In the order of time, whatever the order asked for.
    pub(super) queue: VecDeque<Reference>,
    /// Spans in which no row counts.
    hidden: Vec<TimeRange>,
}

/// The place of an instant in the order asked for.
pub(super) const fn place(at_ns: i64, order: Order) -> i64 {
    match order {
        Order::Forward => at_ns,
        // The bitwise complement turns the order around and can't overflow.
        Order::Backward => !at_ns,
    }
}

/// How the time of a reference meets that of another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    /// It does not.
    None,
    /// Nodes, whose own references may or may not meet it.
    Nodes,
    /// Chunks or rows.
    Chunks,
}

impl RunState {
    /// The run, with what `range` doesn't need left out.
    ///
    /// References that overlap are a fault of the segment; those behind the first are left out and
    /// returned.
    pub(super) fn new(run: Run, range: TimeRange) -> (Self, Vec<Reference>) {
        let (mut roots, hidden) = (run.roots, run.hidden);
        roots.retain(|root| is_wanted(root, range, &hidden));
        roots.sort_by_key(|root| root.summary.begin);
        let (mut queue, mut refused) = (VecDeque::new(), Vec::new());
        for mut root in roots {
            root.series = run.series;
            let is_behind =
                queue.back().is_none_or(|last: &Reference| last.summary.end <= root.summary.begin);
            if is_behind {
                queue.push_back(root);
            } else {
                refused.push(root);
            }
        }
        let state = Self { segment: run.segment, rank: run.rank, rows: None, queue, hidden };
        (state, refused)
    }

    /// The next reference in the order asked for.
    pub(super) fn front(&self, order: Order) -> Option<&Reference> {
        match order {
            Order::Forward => self.queue.front(),
            Order::Backward => self.queue.back(),
        }
    }

    /// Takes the next reference away.
    pub(super) fn pop(&mut self, order: Order) -> Option<Reference> {
        match order {
            Order::Forward => self.queue.pop_front(),
            Order::Backward => self.queue.pop_back(),
        }
    }

    /// The place at which the run goes on; `None` where it is at its end.
    pub(super) fn begin(&self, order: Order) -> Option<i64> {
        if let Some(at_ns) = self.next_row(order) {
            return Some(place(at_ns, order));
        }
        let summary = &self.front(order)?.summary;
        Some(match order {
            Order::Forward => summary.begin,
            Order::Backward => place(summary.end.saturating_sub(1), order),
        })
    }

    /// The timestamp of the next decoded row.
    pub(super) fn next_row(&self, order: Order) -> Option<i64> {
        let OpenRows { chunk, left } = self.rows.as_ref().filter(|rows| !rows.left.is_empty())?;
        let row = match order {
            Order::Forward => left.start,
            Order::Backward => left.end.saturating_sub(1),
        };
        chunk.timestamps.get(row).copied()
    }

    /// How this run meets `span`.
    pub(super) fn overlap(&self, span: TimeRange) -> Overlap {
        if let Some(OpenRows { chunk, left }) = &self.rows
            && let Some([first, .., last] | [first @ last]) = chunk.timestamps.get(left.clone())
            && *first < span.end
            && span.begin <= *last
        {
            return Overlap::Chunks;
        }
        let begin = self.queue.partition_point(|reference| reference.summary.end <= span.begin);
        let mut overlap = Overlap::None;
        for reference in self.queue.range(begin..) {
            if reference.summary.begin >= span.end {
                break;
            }
            if reference.level == 0 {
                return Overlap::Chunks;
            }
            overlap = Overlap::Nodes;
        }
        overlap
    }

    /// Whether some rows of `span` may be hidden.
    pub(super) fn is_shadowed(&self, span: TimeRange) -> bool {
        self.hidden.iter().any(|hidden| hidden.overlaps(span))
    }

    /// Takes the hidden rows out of a decoded chunk.
    pub(super) fn remove_hidden(&self, chunk: &mut Chunk) {
        for hidden in &self.hidden {
            let row = |at_ns: i64| chunk.timestamps.partition_point(|at| *at < at_ns);
            let rows = row(hidden.begin)..row(hidden.end);
            chunk.remove(rows);
        }
    }

    /// Puts what a node holds in its place; `at` is its position in the queue.
    pub(super) fn replace(&mut self, at: usize, children: Vec<Reference>, range: TimeRange) {
        let behind = self.queue.split_off(at.saturating_add(1).min(self.queue.len()));
        self.queue.truncate(at);
        self.queue.extend(children.into_iter().filter(|child| is_wanted(child, range, &self.hidden)));
        self.queue.extend(behind);
    }
}

/// Whether a reference has rows in `range` that are not all hidden.
fn is_wanted(reference: &Reference, range: TimeRange, hidden: &[TimeRange]) -> bool {
    let span = reference.summary.span();
    span.overlaps(range) && !hidden.iter().any(|hidden| hidden.covers(span))
}

/// Checks that the references of a node are what the reference to it says.
pub(super) fn check_children(parent: &Reference, children: &[Reference]) -> Result<(), Damage> {
    let span = parent.summary.span();
    let is_inside = |child: &Reference| {
        !child.summary.is_empty()
            && span.covers(child.summary.span())
            && child.level.checked_add(1) == Some(parent.level)
    };
    let is_sorted = children.is_sorted_by(|a, b| a.summary.end <= b.summary.begin);
    if is_sorted && children.iter().all(is_inside) { Ok(()) } else { Err(Damage::Inconsistent) }
}
