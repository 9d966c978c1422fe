//! The job that answers one question over all open segments.
//!
//! First the library says which series are meant and what is held of them, then the engine's query runs.

use siltstone_core::point::TimeRange;
use siltstone_core::query::{
    Buckets, Found, Function, Query, Question, Request, Rows, Statistics, Step, Task,
};
use siltstone_core::series::{Selector, SeriesName};

use crate::fault::Fault;
use crate::pattern::Patterns;
use crate::shelf::{Need, Shelf};
use crate::table::Table;

/// What is asked.
pub(crate) struct Wish {
    pub(crate) select: String,
    /// Only the series whose name is `select` to the letter.
    pub(crate) is_exact: bool,
    pub(crate) range: TimeRange,
    pub(crate) functions: Vec<String>,
    /// Nanoseconds; 0 for the range as a whole.
    pub(crate) step_ns: i64,
    pub(crate) is_snapped: bool,
    /// Rows at most; 0 for all.
    pub(crate) limit: u64,
}

/// Answering one question.
pub(crate) struct Asking {
    selector: Selector,
    exact: Option<String>,
    patterns: Patterns,
    question: Question,
    functions: Vec<Function>,
    query: Option<Query>,
    names: Vec<SeriesName>,
    table: Table,
}

/// What a step led to.
pub(crate) enum AskingStep {
    /// Blocks to feed.
    Need(Need),
    /// Rows were put into the table.
    More,
    /// The table is complete.
    Done,
}

impl Asking {
    /// Begins with `wish`.
    pub(crate) fn new(wish: &Wish) -> Result<Self, Fault> {
        let selector = Selector::parse(&wish.select)?;
        let patterns = Patterns::of(&selector)?;
        let parse = |word: &String| {
            Function::parse(word).ok_or_else(|| Fault::request(format_args!("`{word}` is no function")))
        };
        let functions = wish.functions.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let mut question = Question::select(wish.range);
        if !functions.is_empty() {
            let buckets = match wish.step_ns {
                0 => Buckets::Whole,
                step_ns => Buckets::Step { origin_ns: 0, step_ns },
            };
            question.task = Task::Group { buckets, functions: functions.clone(), snap: wish.is_snapped };
        }
        question.limit = (wish.limit > 0).then_some(wish.limit);
        Ok(Self {
            selector,
            exact: wish.is_exact.then(|| wish.select.clone()),
            patterns,
            question,
            table: Table::new(&functions),
            functions,
            query: None,
            names: Vec::new(),
        })
    }

    /// Takes a block. `false`: it is for the library, since the query has not begun.
    pub(crate) fn feed(&mut self, shelf: &Shelf, device: u32, block: u32, bytes: &[u8]) -> bool {
        let Some(query) = &mut self.query else { return false };
        if let Some(segment) = shelf.handle(device) {
            query.feed(&Request { segment, block, count: 1 }, Ok(bytes));
        }
        true
    }

    /// Goes on.
    pub(crate) fn step(&mut self, shelf: &Shelf, budget_blocks: u32) -> Result<AskingStep, Fault> {
        if self.query.is_none() {
            let need = self.begin(shelf)?;
            if !need.is_empty() {
                return Ok(AskingStep::Need(need));
            }
        }
        let Some(query) = &mut self.query else { return Err(Fault::internal("a query that never began")) };
        match query.step(budget_blocks as usize) {
            Step::Need(requests) => Ok(AskingStep::Need(shelf.need(&requests))),
            Step::Batch(batch) => {
                let name = self.names.get(batch.series as usize).map_or("", SeriesName::as_str);
                match &batch.rows {
                    Rows::Points(chunk) => self.table.push_points(name, chunk),
                    Rows::Buckets(buckets) => self.table.push_buckets(name, buckets, &self.functions),
                }
                Ok(AskingStep::More)
            }
            Step::Done(done) => {
                self.table.is_cut = done.next.is_some();
                self.warn(shelf, &done.statistics);
                Ok(AskingStep::Done)
            }
        }
    }

    /// The finished table.
    pub(crate) fn finish(self) -> Table {
        self.table
    }

    /// Begins the query; gives the blocks needed before that.
    fn begin(&mut self, shelf: &Shelf) -> Result<Need, Fault> {
        let selected = shelf.library.select_for(&self.question, &self.selector, &self.patterns);
        let mut holdings = match selected.map_err(|error| shelf.fault(error))? {
            Found::Need(requests) => return Ok(shelf.need(&requests)),
            Found::Ready(holdings) => holdings,
        };
        if let Some(name) = &self.exact {
            holdings.retain(|holding| name == holding.name.as_str());
        }
        self.names = holdings.iter().map(|holding| holding.name.clone()).collect();
        self.query = Some(shelf.library.query(self.question.clone(), holdings)?);
        Ok(Need::new())
    }

    fn warn(&mut self, shelf: &Shelf, statistics: &Statistics) {
        for warning in &statistics.warnings {
            if let Some(device) = shelf.device(warning.segment) {
                self.table.push_warning(device, format!("block {}: {}", warning.block, warning.damage));
            }
        }
    }
}
