//! The query: a state machine that is asked for the next step and fed the blocks it needs.
//!
//! ```text
//! loop { match query.step(budget) {
//!     Step::Need(requests) → fetch them any way, in any order, feed each
//!     Step::Batch(batch)   → rows of one series
//!     Step::Done(done)     → statistics, and where to go on where the limit was met
//! } }
//! ```
//!
//! Series are answered in the order of the list. Nodes are asked for a level at a time over several
//! series, leaves in the order of time within the budget, so round trips are few and memory is bounded by
//! the budget and by [`REFERENCES_MAX`].

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use super::blocks::{Blocks, Key, Presence};
use super::damage::{SegmentReads, Statistics, Unreadable};
use super::group::Group;
use super::planner::{Request, join};
use super::question::{Order, Question, QuestionError, Resume, Task};
use super::runs::{Run, Segment};
use super::sink::{Rows, Sink};
use super::slots::Slots;
use super::sweep::{Progress, Sweep};
use crate::block::BLOCK_LEN;
use crate::point::TimeRange;

/// References of opened nodes in memory, about; the earliest are opened first.
pub const REFERENCES_MAX: usize = 8_192;
/// References that a node is taken to hold before it is opened.
const FAN_OUT_EXPECTED: usize = 128;

/// What a query says.
#[derive(Debug)]
pub enum Step {
    /// Blocks to fetch and to feed; all that are missing, so those asked for before and not fed come again.
    Need(Vec<Request>),
    /// Rows of the answer.
    Batch(Batch),
    /// The end.
    Done(Done),
}

/// Rows of one series.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Position of the series in the list.
    pub series: u32,
    /// Its rows, at least one.
    pub rows: Rows,
}

/// The end of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// What it cost and what is missing.
    pub statistics: Statistics,
    /// Where to go on, where the limit was met; there may be no more.
    pub next: Option<Resume>,
}

/// A question on its way.
#[derive(Debug)]
pub struct Query {
    question: Question,
    sweeps: Vec<Sweep>,
    /// Position of the series in progress.
    at: usize,
    /// Position behind the last series for which blocks were asked.
    planned: usize,
    /// Where the rows of the series in progress go.
    sink: Sink,
    /// The sink of any later series, for judging ahead.
    later: Sink,
    blocks: Blocks,
    statistics: Statistics,
    next: Option<Resume>,
}

impl Query {
    /// Asks `question` of each of `series`: what the segments hold of it.
    ///
    /// # Errors
    ///
    /// [`QuestionError`] where the question has no answer.
    pub fn new(
        question: Question,
        segments: Vec<Segment>,
        series: Vec<Vec<Run>>,
    ) -> Result<Self, QuestionError> {
        question.check()?;
        if series.iter().flatten().any(|run| run.segment.0 as usize >= segments.len()) {
            return Err(QuestionError::Segment);
        }
        let mut statistics = Statistics {
            blocks_total: segments.iter().map(|segment| u64::from(segment.blocks)).sum(),
            reads: vec![SegmentReads::default(); segments.len()],
            ..Statistics::default()
        };
        let order = match question.task {
            Task::Select(order) => order,
            Task::Group { .. } => Order::Forward,
        };
        let at = question.resume.map_or(0, |resume| resume.series as usize);
        let mut sweeps = Vec::with_capacity(series.len());
        for (number, runs) in series.into_iter().enumerate() {
            let runs = if number < at { Vec::new() } else { runs };
            let range = Slots::new(&question, range_of(&question, number)).range();
            let range = question.reach(range, question.laws);
            sweeps.push(Sweep::new(runs, range, (order, question.filter), &mut statistics));
        }
        let left = question.limit.unwrap_or(u64::MAX);
        let (sink, later) = (sink_of(&question, at, left), sink_of(&question, usize::MAX, left));
        let blocks = Blocks::new(segments);
        Ok(Self { question, sweeps, at, planned: at, sink, later, blocks, statistics, next: None })
    }

    /// Takes what was fetched for `request`: whole blocks one after another. Where fewer came, or none,
    /// the missing ones count as damaged.
    ///
    /// Blocks may come in any order and in other pieces than they were asked for; what was not asked
    /// for is passed over.
    pub fn feed(&mut self, request: &Request, bytes: Result<&[u8], Unreadable>) {
        let mut pieces = bytes.unwrap_or_default().chunks_exact(BLOCK_LEN);
        for block in request.block..request.block.saturating_add(request.count) {
            self.blocks.feed((request.segment, block), pieces.next(), &mut self.statistics);
        }
    }

    /// The next step. Asks for at most `budget_blocks` wanted blocks (one, where that is 0), and those
    /// that lie between them.
    pub fn step(&mut self, budget_blocks: usize) -> Step {
        loop {
            let left_before = self.sink.left();
            let Some(sweep) = self.sweeps.get_mut(self.at).filter(|_| left_before > 0) else {
                return self.done();
            };
            let progress = sweep.advance(&self.blocks, &mut self.sink, &mut self.statistics);
            if progress == Progress::Blocked {
                if let Some(requests) = self.want(budget_blocks.max(1)) {
                    return Step::Need(requests);
                }
                continue;
            }
            if progress == Progress::Finished {
                sweep.clear();
                self.sink.end();
            }
            if let Some(batch) = self.give(progress == Progress::Finished) {
                return Step::Batch(batch);
            }
        }
    }

    /// What the sink has ready; goes on to the next series where this one is finished and empty.
    fn give(&mut self, is_finished: bool) -> Option<Batch> {
        let series = u32::try_from(self.at).unwrap_or(u32::MAX);
        let rows = self.sink.take();
        let left = self.sink.left();
        if left == 0 {
            let at_ns = match (&rows, &self.question.task) {
                (Rows::Points(chunk), Task::Select(Order::Backward)) => chunk.timestamps.last().copied(),
                (Rows::Points(chunk), _) => chunk.timestamps.last().map(|at| at.saturating_add(1)),
                (Rows::Buckets(buckets), _) => buckets.last().map(|bucket| bucket.span.end),
            };
            self.next = at_ns.map(|at_ns| Resume { series, at_ns }).or(self.next);
        }
        if is_finished && rows.is_empty() {
            self.at = self.at.saturating_add(1);
            self.planned = self.planned.max(self.at);
            self.sink = sink_of(&self.question, self.at, left);
        }
        (!rows.is_empty()).then_some(Batch { series, rows })
    }

    fn done(&mut self) -> Step {
        self.sweeps.clear();
        Step::Done(Done { statistics: self.statistics.clone(), next: self.next })
    }

    /// The blocks to ask for; `None` where nodes at hand were opened instead and the sweep can try again.
    fn want(&mut self, budget: usize) -> Option<Vec<Request>> {
        if self.blocks.awaited.is_empty() {
            if self.open_nodes() {
                return None;
            }
            // All that were needed of those at hand are open now.
            self.blocks.forget_nodes();
            let mut wanted = self.wanted_nodes(budget);
            if wanted.is_empty() {
                wanted = self.wanted_leaves(budget);
                self.blocks.keep_only(&wanted);
            }
            if wanted.is_empty()
                && let Some(sweep) = self.sweeps.get(self.at)
            {
                // Memory is full of references behind a node that has to be opened first.
                sweep.wanted_nodes(&self.sink, &mut wanted, 1);
            }
            wanted.retain(|key| self.blocks.presence(*key) == Presence::Missing);
            self.blocks.awaited = wanted;
        }
        if !self.blocks.awaited.is_empty() {
            return Some(join(&self.blocks.awaited));
        }
        if !self.open_nodes() {
            // Nothing is missing and nothing can be opened: a fault of this room, which must neither
            // hang nor pass for a whole answer.
            debug_assert!(false, "a query without a next step");
            self.statistics.is_partial = true;
            if let Some(sweep) = self.sweeps.get_mut(self.at) {
                sweep.clear();
            }
        }
        None
    }

    fn sink_of(&self, number: usize) -> &Sink {
        if number == self.at { &self.sink } else { &self.later }
    }

    fn open_nodes(&mut self) -> bool {
        let mut is_opened = false;
        for number in self.at..self.planned {
            let sink = if number == self.at { &self.sink } else { &self.later };
            if let Some(sweep) = self.sweeps.get_mut(number) {
                is_opened |= sweep.open_nodes(&self.blocks, sink, &mut self.statistics);
            }
        }
        is_opened
    }

    fn wanted_nodes(&mut self, budget: usize) -> BTreeSet<Key> {
        let mut wanted = BTreeSet::new();
        let mut references = 0;
        for (number, sweep) in self.sweeps.iter().enumerate().skip(self.at) {
            references += sweep.references();
            let room = REFERENCES_MAX.saturating_sub(references) / FAN_OUT_EXPECTED;
            let count_max = budget.min(room).saturating_sub(wanted.len());
            if count_max == 0 {
                break;
            }
            sweep.wanted_nodes(self.sink_of(number), &mut wanted, count_max);
            self.planned = self.planned.max(number.saturating_add(1));
        }
        wanted
    }

    fn wanted_leaves(&mut self, budget: usize) -> BTreeSet<Key> {
        let mut wanted = BTreeSet::new();
        let mut rows_left = self.sink.rows_left();
        for (number, sweep) in self.sweeps.iter().enumerate().skip(self.at) {
            self.planned = self.planned.max(number.saturating_add(1));
            if !sweep.wanted_leaves(self.sink_of(number), &mut wanted, budget, &mut rows_left) {
                break;
            }
        }
        wanted
    }
}

/// The range of a question for one series: where it resumes, what was answered is left out.
fn range_of(question: &Question, number: usize) -> TimeRange {
    let mut range = question.range;
    if let Some(resume) = question.resume.filter(|resume| resume.series as usize == number) {
        match question.task {
            Task::Select(Order::Backward) => range.end = range.end.min(resume.at_ns),
            _ => range.begin = range.begin.max(resume.at_ns),
        }
    }
    range
}

fn sink_of(question: &Question, number: usize, left: u64) -> Sink {
    match &question.task {
        Task::Select(order) => Sink::points(*order, left),
        Task::Group { snap, .. } => {
            let slots = Slots::new(question, range_of(question, number));
            Sink::buckets(Group::new(slots, question.needs(), *snap, question.laws), left)
        }
    }
}
