//! A question to an answer: which series, what each file holds of them, the query, its rows.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use siltstone_core::point::{TimeRange, ValueKind};
use siltstone_core::query::{
    self, Batch, Buckets, Done, Query, Request, Run, Segment, SegmentHandle, Step, Task, Unreadable,
};
use siltstone_core::segment::Suggest;
use siltstone_core::series::SeriesName;
use siltstone_core::tree::Laws;

use super::member::{Member, OpenError, supply};
use super::selector::ParsedSelector;
use super::{cursor, rows};
use crate::api::{Answer, ApiError, Code, Cost, Order, Question};

/// Blocks asked for at a time: bounds the memory of a question.
const BUDGET_BLOCKS: usize = 64;
/// Warnings that an answer carries.
const WARNINGS_MAX: usize = 100;

/// A series and what the files hold of it.
#[derive(Clone, Debug)]
pub struct Holding {
    /// Its name.
    pub name: SeriesName,
    /// The kind of its first value.
    pub kind: ValueKind,
    /// Its unit, or empty.
    pub unit: String,
    /// One run a file that has rows of it.
    pub runs: Vec<Run>,
}

impl Holding {
    /// From the first row in any file to behind the last; `None` without rows.
    pub fn span(&self) -> Option<TimeRange> {
        let spans = self.runs.iter().flat_map(|run| &run.roots).map(|root| root.summary.span());
        spans.reduce(|a, b| TimeRange::new(a.begin.min(b.begin), a.end.max(b.end)))
    }
}

/// Block files side by side.
#[derive(Default)]
pub struct Shelf {
    members: Vec<Member>,
    warnings: Vec<String>,
    deadline: Option<Instant>,
}

impl Shelf {
    /// An empty shelf.
    pub fn new() -> Self {
        Self::default()
    }

    /// Questions that take longer than `limit` from now on are given up.
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.deadline = Instant::now().checked_add(limit);
        self
    }

    /// Puts a block file on the shelf.
    pub fn add(&mut self, member: Member) {
        for warning in &member.warnings {
            self.warn(warning.clone());
        }
        self.members.push(member);
    }

    /// The files.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The files, when the shelf is not needed any more.
    pub fn into_members(self) -> Vec<Member> {
        self.members
    }

    /// What could not be read so far, a sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Notes something that could not be read.
    pub fn warn(&mut self, sentence: String) {
        if self.warnings.len() < WARNINGS_MAX && !self.warnings.contains(&sentence) {
            self.warnings.push(sentence);
        }
    }

    /// The series that `selector` means, in the order of names. Files that can't say are reported.
    pub fn select(&mut self, selector: &ParsedSelector) -> Vec<Holding> {
        let mut found: BTreeMap<SeriesName, Holding> = BTreeMap::new();
        for index in 0..self.members.len() {
            let handle = SegmentHandle(u32::try_from(index).unwrap_or(u32::MAX));
            let Some(member) = self.members.get_mut(index) else { continue };
            let known = member.warnings.len();
            let selected: Result<_, OpenError> = member.select(selector);
            let rank = member.header.rank;
            let fresh: Vec<_> = member.warnings.iter().skip(known).cloned().collect();
            for warning in fresh {
                self.warn(warning);
            }
            let series = match selected {
                Ok(series) => series,
                Err(error) => {
                    self.warn(error.to_string());
                    continue;
                }
            };
            for series in series {
                let holding = found.entry(series.name.clone()).or_insert_with(|| Holding {
                    name: series.name,
                    kind: series.kind,
                    unit: series.unit,
                    runs: Vec::new(),
                });
                if series.root.summary.rows() > 0 {
                    let run =
                        Run { segment: handle, series: series.root.series, rank, roots: vec![series.root] };
                    holding.runs.push(run);
                }
            }
        }
        found.into_values().collect()
    }

    /// Completions of `prefix` from the files that have an index, in order.
    pub fn suggest(&self, what: Suggest<'_>, prefix: &str, limit: usize) -> Vec<String> {
        let mut words = std::collections::BTreeSet::new();
        for member in &self.members {
            let (Some(sealed), Some(source)) = (member.as_sealed(), member.source()) else { continue };
            let mut blocks = siltstone_core::segment::BlockMap::new();
            if let Ok(found) =
                supply(&**source, &mut blocks, |blocks| sealed.suggest(blocks, what, prefix, limit))
            {
                words.extend(found);
            }
        }
        words.into_iter().take(limit).collect()
    }

    /// Answers a question, or a page of it.
    ///
    /// # Errors
    ///
    /// What is wrong with the question, or that it took too long. Damage is no error: the answer has
    /// the rows that can be read, and warnings.
    pub fn ask(&mut self, question: &Question) -> Result<Answer, ApiError> {
        let selector = ParsedSelector::parse(&question.select)?;
        let holdings = self.select(&selector);
        let names: Vec<_> = holdings.iter().map(|holding| holding.name.clone()).collect();
        let spans = holdings.iter().filter_map(Holding::span);
        let span = spans.reduce(|a, b| TimeRange::new(a.begin.min(b.begin), a.end.max(b.end)));
        let range = clip(TimeRange::new(question.begin_ns, question.end_ns), span);
        let asked = query::Question { range, ..to_core(question, &names, self.laws())? };
        let segments: Vec<_> = self
            .members
            .iter()
            .map(|member| Segment { id: member.id(), blocks: member.block_count })
            .collect();
        let runs = holdings.into_iter().map(|holding| holding.runs).collect();
        let mut query =
            Query::new(asked, segments, runs).map_err(|error| ApiError::bad(error.to_string()))?;
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
        for warning in &statistics.warnings {
            self.warn_damage(warning);
        }
        answer.warnings.clone_from(&self.warnings);
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
                    for request in requests {
                        self.feed(query, &request);
                    }
                }
            }
        }
    }

    pub(super) fn warn_damage(&mut self, warning: &query::Warning) {
        let label = self.label(warning.segment);
        self.warn(format!("{label}: block {}: {}", warning.block, warning.damage));
    }

    pub(super) fn feed(&mut self, query: &mut Query, request: &Request) {
        let member = self.members.get(request.segment.0 as usize);
        match member.map_or(Err("there is no such file".to_owned()), |member| {
            member.read(request.block, request.count)
        }) {
            Ok(bytes) => query.feed(request, Ok(&bytes)),
            Err(reason) => {
                self.warn(reason);
                query.feed(request, Err(Unreadable));
            }
        }
    }

    fn label(&self, segment: SegmentHandle) -> String {
        let source = self.members.get(segment.0 as usize).and_then(Member::source);
        source.map_or_else(|| "memory".to_owned(), |source| source.label().to_owned())
    }

    /// How long values are held, as the files say: the same for all files of a store.
    fn laws(&self) -> Laws {
        let max_hold_ns = self.members.iter().map(|member| member.header.max_hold_ns).min();
        max_hold_ns.map_or_else(Laws::default, |max_hold_ns| Laws { max_hold_ns })
    }
}

/// A range whose open ends are those of what is stored, so that a bucket over all of it has a span
/// that means something.
fn clip(range: TimeRange, stored: Option<TimeRange>) -> TimeRange {
    let Some(stored) = stored else { return range };
    TimeRange::new(
        if range.begin == i64::MIN { stored.begin.min(range.end) } else { range.begin },
        if range.end == i64::MAX { stored.end.max(range.begin) } else { range.end },
    )
}

/// The question as core wants it.
fn to_core(question: &Question, names: &[SeriesName], laws: Laws) -> Result<query::Question, ApiError> {
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
        range: TimeRange::new(question.begin_ns, question.end_ns),
        filter: question.condition,
        task,
        limit: Some(u64::from(question.limit)),
        resume: match &question.cursor {
            Some(text) => Some(cursor::parse(text, names)?),
            None => None,
        },
        laws,
    })
}
