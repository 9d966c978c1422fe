//! The readings of several series in the order of time, one after another.
//!
//! Each series has a query of its own that is driven a little at a time, so that memory grows with
//! the number of series and not with that of readings.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use siltstone_core::codec::Chunk;
use siltstone_core::point::{TimeRange, Value};
use siltstone_core::query::{Query, Question, Rows, Segment, Step};
use siltstone_core::series::SeriesName;

use super::ask::Shelf;
use super::selector::ParsedSelector;
use crate::api::ApiError;

/// Blocks asked for at a time, for each series.
const BUDGET_BLOCKS: usize = 4;

/// One series on its way.
struct Lane {
    query: Query,
    chunk: Chunk,
    row: usize,
}

/// The readings of several series in the order of time.
pub struct Merge {
    names: Vec<SeriesName>,
    lanes: Vec<Lane>,
    /// The next instant of each series, the earliest first, then by column.
    next: BinaryHeap<Reverse<(i64, usize)>>,
    /// The column whose reading was given last.
    given: Option<usize>,
    is_begun: bool,
}

impl Shelf {
    /// The readings of the series that `selector` means, in `range`.
    ///
    /// # Errors
    ///
    /// Where core refuses the question.
    pub fn merge(&mut self, selector: &ParsedSelector, range: TimeRange) -> Result<Merge, ApiError> {
        let holdings = self.select(selector);
        let segments: Vec<_> = self
            .members()
            .iter()
            .map(|member| Segment { id: member.id(), blocks: member.block_count })
            .collect();
        let mut merge = Merge {
            names: Vec::new(),
            lanes: Vec::new(),
            next: BinaryHeap::new(),
            given: None,
            is_begun: false,
        };
        for holding in holdings {
            let question = Question::select(range);
            let query = Query::new(question, segments.clone(), vec![holding.runs]);
            let query = query.map_err(|error| ApiError::bad(error.to_string()))?;
            merge.lanes.push(Lane { query, chunk: Chunk::default(), row: 0 });
            merge.names.push(holding.name);
        }
        Ok(merge)
    }
}

impl Merge {
    /// The series, one a column.
    pub fn names(&self) -> &[SeriesName] {
        &self.names
    }

    /// The next reading: its column and its instant; `None` at the end.
    ///
    /// # Errors
    ///
    /// Where a question takes too long.
    pub fn next(&mut self, shelf: &mut Shelf) -> Result<Option<(usize, i64)>, ApiError> {
        if !self.is_begun {
            self.is_begun = true;
            for column in 0..self.lanes.len() {
                self.refill(column, shelf)?;
            }
        }
        if let Some(column) = self.given.take() {
            if let Some(lane) = self.lanes.get_mut(column) {
                lane.row += 1;
            }
            self.refill(column, shelf)?;
        }
        let Some(Reverse((timestamp_ns, column))) = self.next.pop() else { return Ok(None) };
        self.given = Some(column);
        Ok(Some((column, timestamp_ns)))
    }

    /// The value of the reading that was given last.
    pub fn value(&self, column: usize) -> Option<Value<'_>> {
        let lane = self.lanes.get(column)?;
        lane.chunk.value(lane.row)
    }

    /// Puts the next instant of a series into the queue, reading on where its rows are used up.
    fn refill(&mut self, column: usize, shelf: &mut Shelf) -> Result<(), ApiError> {
        let Some(lane) = self.lanes.get_mut(column) else { return Ok(()) };
        while lane.row >= lane.chunk.len() {
            match lane.query.step(BUDGET_BLOCKS) {
                Step::Need(requests) => {
                    for request in requests {
                        shelf.feed(&mut lane.query, &request);
                    }
                }
                Step::Batch(batch) => {
                    if let Rows::Points(chunk) = batch.rows {
                        lane.chunk = chunk;
                        lane.row = 0;
                    }
                }
                Step::Done(done) => {
                    for warning in &done.statistics.warnings {
                        shelf.warn_damage(warning);
                    }
                    return Ok(());
                }
            }
        }
        if let Some(timestamp_ns) = lane.chunk.timestamps.get(lane.row) {
            self.next.push(Reverse((*timestamp_ns, column)));
        }
        Ok(())
    }
}
