//! Questions to answers: core's queries driven over the shelf, within a time.

use std::time::Instant;

use siltstone_core::point::TimeRange;
use siltstone_core::query::{
    self, Batch, Buckets, Done, Library, Merge, MergeStep, Query, Request, Step, Task, Unreadable, Warning,
};
use siltstone_core::series::SeriesName;

use super::selector::ParsedSelector;
use super::supply::Shelf;
use super::{cursor, rows};
use crate::api::{Answer, ApiError, Code, Cost, Order, Question};

/// Blocks asked for at a time: bounds the memory of a question.
const BUDGET_BLOCKS: usize = 64;
/// Blocks asked for at a time for each of several series that are merged.
const MERGE_BUDGET_BLOCKS: usize = 4;

impl Shelf {
    /// Answers a question, or a page of it.
    ///
    /// # Errors
    ///
    /// What is wrong with the question, or that it took too long. Damage is no error: the answer has
    /// the rows that can be read, and warnings.
    pub fn ask(&mut self, question: &Question) -> Result<Answer, ApiError> {
        let selector = ParsedSelector::parse(&question.select)?;
        let mut asked = to_core(question)?;
        let select = |library: &Library| library.select_for(&asked, &selector.selector, &selector.patterns);
        let holdings = self.found(select, Self::scan_instead);
        let names: Vec<_> = holdings.iter().map(|holding| holding.name.clone()).collect();
        asked.resume = question.cursor.as_ref().map(|text| cursor::parse(text, &names)).transpose()?;
        let query = self.library.query(asked, holdings);
        let mut query = query.map_err(|error| ApiError::bad(error.to_string()))?;
        let mut answer = Answer { columns: rows::columns(&question.functions), ..Answer::default() };
        let done = self.drive(&mut query, |batch| {
            if let Some(name) = names.get(batch.series as usize) {
                rows::push(&mut answer.rows, name, &batch.rows, &question.functions);
            }
        })?;
        answer.next = done.next.and_then(|resume| cursor::print(resume, &names));
        let statistics = &done.statistics;
        answer.cost = Cost {
            blocks_read: statistics.blocks_read,
            blocks_total: statistics.blocks_total,
            bytes_read: statistics.bytes_read,
            points_decoded: statistics.points_decoded,
            subtrees_used: statistics.subtrees_used,
        };
        self.note_reads(&statistics.reads);
        self.warn_of(&statistics.warnings);
        answer.warnings = self.warnings().to_vec();
        Ok(answer)
    }

    /// Runs a query to its end.
    fn drive(&mut self, query: &mut Query, mut take: impl FnMut(Batch)) -> Result<Done, ApiError> {
        loop {
            if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Err(ApiError::new(
                    Code::TooLarge,
                    "the question takes too long; ask for a shorter range, fewer series or a longer step",
                ));
            }
            match query.step(BUDGET_BLOCKS) {
                Step::Batch(batch) => take(batch),
                Step::Done(done) => return Ok(done),
                Step::Need(requests) => {
                    self.fetch_all(&requests, |request, bytes| query.feed(request, bytes))
                }
            }
        }
    }

    /// The readings of the series that `selector` means, in `range`, in the order of time; the names of the
    /// series.
    ///
    /// # Errors
    ///
    /// Where core refuses the question.
    pub fn merge(
        &mut self,
        selector: &ParsedSelector,
        range: TimeRange,
    ) -> Result<(Vec<SeriesName>, Merge), ApiError> {
        let holdings = self.select(selector);
        let (mut names, mut queries) = (Vec::new(), Vec::new());
        for holding in holdings {
            names.push(holding.name.clone());
            let query = self.library.query(query::Question::select(range), vec![holding]);
            queries.push(query.map_err(|error| ApiError::bad(error.to_string()))?);
        }
        Ok((names, Merge::new(queries)))
    }

    /// Goes on to the next reading of a merge; `false` at its end.
    pub fn advance(&mut self, merge: &mut Merge) -> bool {
        loop {
            match merge.step(MERGE_BUDGET_BLOCKS) {
                MergeStep::Reading => return true,
                MergeStep::Need(requests) => {
                    self.fetch_all(&requests, |request, bytes| merge.feed(request, bytes));
                }
                MergeStep::Done(warnings) => {
                    self.warn_of(&warnings);
                    return false;
                }
            }
        }
    }

    fn fetch_all(&mut self, requests: &[Request], mut feed: impl FnMut(&Request, Result<&[u8], Unreadable>)) {
        for request in requests {
            match self.fetch(request) {
                Ok(bytes) => feed(request, Ok(&bytes)),
                Err(reason) => {
                    self.warn(reason);
                    feed(request, Err(Unreadable));
                }
            }
        }
    }

    fn warn_of(&mut self, warnings: &[Warning]) {
        for warning in warnings {
            let label = self.label(warning.segment);
            self.warn(format!("{label}: block {}: {}", warning.block, warning.damage));
        }
    }
}

/// The question as core wants it, from its begin.
fn to_core(question: &Question) -> Result<query::Question, ApiError> {
    let task = if question.functions.is_empty() {
        Task::Select(match question.order {
            Order::Ascending => query::Order::Forward,
            Order::Descending => query::Order::Backward,
        })
    } else {
        if question.order == Order::Descending {
            return Err(ApiError::bad("`order` can't be desc with `fn`: buckets come in the order of time"));
        }
        let buckets = match question.step_ns {
            Some(step_ns) => Buckets::Step { origin_ns: 0, step_ns },
            None if question.edges_ns.is_empty() => Buckets::Whole,
            None => Buckets::Edges(question.edges_ns.clone()),
        };
        Task::Group { buckets, functions: question.functions.clone(), snap: question.snap }
    };
    Ok(query::Question {
        filter: question.condition,
        task,
        limit: Some(u64::from(question.limit)),
        ..query::Question::select(TimeRange::new(question.begin_ns, question.end_ns))
    })
}
