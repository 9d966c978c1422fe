//! The readings of several series in the order of time, one after another.
//!
//! Each series has a query of its own that is driven a little at a time, so that memory grows with the number of
//! series and not with that of readings. Readings of one instant come in the order of the series.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::damage::{Unreadable, Warning};
use super::engine::{Query, Step};
use super::planner::Request;
use super::sink::Rows;
use crate::codec::Chunk;
use crate::point::{Point, Timestamp};

/// What a merge says.
#[derive(Debug)]
pub enum MergeStep {
    /// Blocks to fetch and to feed.
    Need(Vec<Request>),
    /// There is a next reading: [`Merge::reading`].
    Reading,
    /// The end; what could not be read.
    Done(Vec<Warning>),
}

/// One series on its way.
#[derive(Debug)]
struct Lane {
    query: Query,
    chunk: Chunk,
    row: usize,
}

/// Several series on their way.
#[derive(Debug)]
pub struct Merge {
    lanes: Vec<Lane>,
    /// The next instant of each series, the earliest first, then by position.
    next: BinaryHeap<Reverse<(i64, usize)>>,
    /// The series whose next instant is not known, the last one first.
    behind: Vec<usize>,
    /// The series whose reading is given.
    given: Option<usize>,
    warnings: Vec<Warning>,
}

impl Merge {
    /// Merges the points of `queries`, each of one series, forward.
    pub fn new(queries: Vec<Query>) -> Self {
        let behind = (0..queries.len()).rev().collect();
        let lane = |query| Lane { query, chunk: Chunk::default(), row: 0 };
        Self {
            lanes: queries.into_iter().map(lane).collect(),
            next: BinaryHeap::new(),
            behind,
            given: None,
            warnings: Vec::new(),
        }
    }

    /// Takes what was fetched for a request of the last step, as [`Query::feed`] does.
    pub fn feed(&mut self, request: &Request, bytes: Result<&[u8], Unreadable>) {
        if let Some(lane) = self.behind.last().and_then(|series| self.lanes.get_mut(*series)) {
            lane.query.feed(request, bytes);
        }
    }

    /// Goes on to the next reading. Asks for at most `budget_blocks` wanted blocks of one series.
    pub fn step(&mut self, budget_blocks: usize) -> MergeStep {
        if let Some(series) = self.given.take() {
            if let Some(lane) = self.lanes.get_mut(series) {
                lane.row = lane.row.saturating_add(1);
            }
            self.behind.push(series);
        }
        while let Some(series) = self.behind.last() {
            if let Some(lane) = self.lanes.get_mut(*series)
                && let Some(requests) = lane.refill(budget_blocks, &mut self.warnings)
            {
                return MergeStep::Need(requests);
            }
            let at_ns = self.lanes.get(*series).and_then(|lane| lane.chunk.timestamps.get(lane.row));
            self.next.extend(at_ns.map(|at_ns| Reverse((*at_ns, *series))));
            self.behind.pop();
        }
        match self.next.pop() {
            Some(Reverse((_, series))) => {
                self.given = Some(series);
                MergeStep::Reading
            }
            None => MergeStep::Done(core::mem::take(&mut self.warnings)),
        }
    }

    /// The reading that the last step led to, and the position of its series.
    pub fn reading(&self) -> Option<(usize, Point<'_>)> {
        let series = self.given?;
        let Lane { chunk, row, .. } = self.lanes.get(series)?;
        let timestamp = Timestamp(*chunk.timestamps.get(*row)?);
        Some((series, Point { timestamp, value: chunk.value(*row)? }))
    }
}

impl Lane {
    /// Reads on where the rows are used up; the blocks that are needed for that.
    fn refill(&mut self, budget_blocks: usize, warnings: &mut Vec<Warning>) -> Option<Vec<Request>> {
        while self.row >= self.chunk.len() {
            match self.query.step(budget_blocks) {
                Step::Need(requests) => return Some(requests),
                Step::Batch(batch) => {
                    if let Rows::Points(chunk) = batch.rows {
                        (self.chunk, self.row) = (chunk, 0);
                    }
                }
                Step::Done(done) => {
                    warnings.extend(done.statistics.warnings);
                    break;
                }
            }
        }
        None
    }
}
