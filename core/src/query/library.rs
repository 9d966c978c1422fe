//! Several segments as one set of series: which of them a selector means, and what each segment holds of each.
//!
//! A series is its canonical name: segments that hold the same name are its runs. The library fetches nothing:
//! it says what it needs and is fed. It also makes the query over what it found, whose blocks are on devices
//! but for those that are at hand here. What is damaged costs one segment its answer; whoever drives decides whether
//! it is taken out, or replaced by what a scan finds.

use super::engine::Query;
use super::planner::Request;
use super::question::{Question, QuestionError};
use super::runs::{Run, Segment, SegmentHandle};
use super::shadows::Shadows;
use crate::block::SegmentId;
use crate::point::{TimeRange, ValueKind};
use crate::segment::{Answer, Opened, SegmentError, SegmentHeader, SegmentKind, SegmentSeries, Suggest};
use crate::series::{RegexMatcher, Selector, SeriesName};
use crate::tree::Laws;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// A series and what the segments hold of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Holding {
    /// Its name.
    pub name: SeriesName,
    /// Kind of its first value in the first segment that has it.
    pub kind: ValueKind,
    /// The first unit that a segment knows, or empty.
    pub unit: String,
    /// One run a segment that has rows of it; none where rows were not asked for.
    pub runs: Vec<Run>,
}

impl Holding {
    /// From the first row in any segment to behind the last; `None` without rows.
    pub fn span(&self) -> Option<TimeRange> {
        let roots = self.runs.iter().flat_map(|run| &run.roots);
        TimeRange::hull(roots.map(|root| root.summary.span()))
    }

    /// Rows in all runs; those with the same timestamp in several count several times.
    pub fn rows(&self) -> u64 {
        self.runs.iter().flat_map(|run| &run.roots).map(|root| root.summary.rows()).sum()
    }
}

/// What the library knows, or what it needs first.
#[derive(Clone, Debug, PartialEq)]
pub enum Found<T> {
    /// The answer.
    Ready(T),
    /// Blocks to feed before the question is asked again; not empty.
    Need(Vec<Request>),
}

/// A segment and what is wrong with its tail. Without that segment the others still answer.
pub type SegmentFault = (SegmentHandle, SegmentError);

/// The segments.
#[derive(Debug, Default)]
pub struct Library {
    /// By handle; `None` where one was taken out: its handle is not given again.
    segments: Vec<Option<Opened>>,
}

impl Library {
    /// No segments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a segment.
    pub fn add(&mut self, opened: Opened) -> SegmentHandle {
        let handle = SegmentHandle(self.segments.len() as u32);
        self.segments.push(Some(opened));
        handle
    }

    /// Takes a segment out, with the blocks that were fed. The handles of the others stay.
    pub fn remove(&mut self, segment: SegmentHandle) -> Option<Opened> {
        self.segments.get_mut(segment.0 as usize).and_then(Option::take)
    }

    /// Puts another form of a segment in its place.
    pub fn replace(&mut self, segment: SegmentHandle, opened: Opened) {
        if let Some(place) = self.segments.get_mut(segment.0 as usize) {
            *place = Some(opened);
        }
    }

    /// A segment; `None` where it was taken out.
    pub fn get(&self, segment: SegmentHandle) -> Option<&Opened> {
        self.segments.get(segment.0 as usize)?.as_ref()
    }

    /// What a segment is.
    pub fn header(&self, segment: SegmentHandle) -> Option<&SegmentHeader> {
        self.get(segment).map(Opened::header)
    }

    /// From the first row in any segment to behind the last; `None` without rows.
    pub fn span(&self) -> Option<TimeRange> {
        TimeRange::hull(self.with_points().filter_map(|(_, opened)| opened.span()))
    }

    /// The segments as a query wants them, by handle.
    pub fn segments(&self) -> Vec<Segment> {
        // No run names one that was taken out, so its identity says nothing.
        let none = Segment { id: SegmentId { device: [0; 16], epoch: 0, number: 0 }, blocks: 0 };
        let segment = |opened: &Opened| Segment { id: opened.header().id, blocks: opened.block_count() };
        self.segments.iter().map(|opened| opened.as_ref().map_or(none, segment)).collect()
    }

    /// How long values are held, as the segments say: those of a store all say the same.
    pub fn laws(&self) -> Laws {
        let max_hold_ns = self.handles().map(|(_, opened)| opened.header().max_hold_ns).min();
        max_hold_ns.map_or_else(Laws::default, |max_hold_ns| Laws { max_hold_ns })
    }

    /// The blocks of `request` one after another, where all of them are at hand here. Others are on the device.
    pub fn read(&self, request: &Request) -> Option<Vec<u8>> {
        let opened = self.get(request.segment)?;
        let mut bytes = Vec::new();
        for block in request.block..request.block.saturating_add(request.count) {
            bytes.extend_from_slice(opened.block(block)?);
        }
        Some(bytes)
    }

    /// Takes blocks that were needed: whole ones, the first as `block`.
    pub fn feed(&mut self, segment: SegmentHandle, block: u32, bytes: &[u8]) {
        if let Some(Some(opened)) = self.segments.get_mut(segment.0 as usize) {
            opened.feed(block, bytes);
        }
    }

    /// The series that `selector` means, in the order of names.
    ///
    /// # Errors
    /// The segment and what is wrong with its tail.
    pub fn select(
        &self,
        selector: &Selector,
        regex: &(impl RegexMatcher + ?Sized),
    ) -> Result<Found<Vec<Holding>>, SegmentFault> {
        self.select_within(TimeRange::ALL, selector, regex)
    }

    /// The series that `selector` means and that `question` may need; the tails of segments of other times
    /// are not looked at.
    ///
    /// # Errors
    /// As [`Self::select`].
    pub fn select_for(
        &self,
        question: &Question,
        selector: &Selector,
        regex: &(impl RegexMatcher + ?Sized),
    ) -> Result<Found<Vec<Holding>>, SegmentFault> {
        self.select_within(question.reach(question.range, self.laws()), selector, regex)
    }

    fn select_within(
        &self,
        range: TimeRange,
        selector: &Selector,
        regex: &(impl RegexMatcher + ?Sized),
    ) -> Result<Found<Vec<Holding>>, SegmentFault> {
        // A segment without rows still knows series.
        let is_asked = |opened: &Opened| {
            range == TimeRange::ALL || opened.span().is_some_and(|span| range.overlaps(span))
        };
        let (shadows, mut need) = Shadows::of(self, selector, regex)?;
        let mut found = BTreeMap::new();
        let more = self.each(
            |opened| match is_asked(opened) {
                true => opened.select(selector, regex),
                false => Ok(Answer::Ready(Vec::new())),
            },
            |handle, opened, series| {
                if !shadows.is_superseded(&opened.header().id) {
                    series.into_iter().for_each(|series| hold(&mut found, &shadows, handle, opened, series));
                }
            },
        )?;
        need.extend(more);
        Ok(ready(need, || found.into_values().collect()))
    }

    /// The series that `selector` means, in the order of names, without what is held of them.
    ///
    /// # Errors
    /// As [`Self::select`].
    pub fn list(
        &self,
        selector: &Selector,
        regex: &(impl RegexMatcher + ?Sized),
    ) -> Result<Found<Vec<Holding>>, SegmentFault> {
        let (shadows, mut need) = Shadows::of(self, selector, regex)?;
        let mut found = BTreeMap::new();
        let more = self.each(
            |opened| opened.list(selector, regex),
            |handle, opened, series| {
                series.into_iter().for_each(|series| hold(&mut found, &shadows, handle, opened, series));
            },
        )?;
        need.extend(more);
        Ok(ready(need, || found.into_values().collect()))
    }

    /// At most `limit` names or values that begin with `prefix`, in order, of all segments.
    ///
    /// # Errors
    /// As [`Self::select`].
    pub fn suggest(
        &self,
        what: Suggest<'_>,
        prefix: &str,
        limit: usize,
    ) -> Result<Found<Vec<String>>, SegmentFault> {
        let mut words = BTreeSet::new();
        let need = self.each(
            |opened| opened.suggest(what, prefix, limit),
            |_, _, found: Vec<String>| words.extend(found),
        )?;
        Ok(ready(need, || words.into_iter().take(limit).collect()))
    }

    /// The query that asks `question` of `holdings`, in their order. Values are held as the segments say, and
    /// the open ends of its range are those of what is held, so that a bucket over all of it has a span that means
    /// something.
    ///
    /// # Errors
    /// [`QuestionError`] where the question has no answer.
    pub fn query(&self, mut question: Question, holdings: Vec<Holding>) -> Result<Query, QuestionError> {
        question.laws = self.laws();
        if let Some(held) = TimeRange::hull(holdings.iter().filter_map(Holding::span)) {
            question.range = question.range.with_ends_of(held);
        }
        let runs = holdings.into_iter().map(|holding| holding.runs).collect();
        Query::new(question, self.segments(), runs)
    }

    /// Asks every segment that has points; gives what is needed first.
    fn each<T>(
        &self,
        ask: impl Fn(&Opened) -> Result<Answer<T>, SegmentError>,
        mut take: impl FnMut(SegmentHandle, &Opened, T),
    ) -> Result<Vec<Request>, SegmentFault> {
        let mut need = Vec::new();
        for (segment, opened) in self.with_points() {
            match ask(opened).map_err(|error| (segment, error))? {
                Answer::Ready(answer) => take(segment, opened, answer),
                Answer::Need(ranges) => need.extend(Request::of(segment, ranges)),
            }
        }
        Ok(need)
    }

    /// The segments but for tombstones.
    fn with_points(&self) -> impl Iterator<Item = (SegmentHandle, &Opened)> {
        self.handles().filter(|(_, opened)| opened.header().kind != SegmentKind::Tombstones)
    }

    pub(super) fn handles(&self) -> impl Iterator<Item = (SegmentHandle, &Opened)> {
        let handles = (0..).map(SegmentHandle).zip(&self.segments);
        handles.filter_map(|(handle, opened)| Some((handle, opened.as_ref()?)))
    }
}

fn ready<T>(need: Vec<Request>, answer: impl FnOnce() -> T) -> Found<T> {
    if need.is_empty() { Found::Ready(answer()) } else { Found::Need(need) }
}

/// Adds what a segment has of a series, if any of it counts.
fn hold(
    found: &mut BTreeMap<SeriesName, Holding>,
    shadows: &Shadows,
    segment: SegmentHandle,
    opened: &Opened,
    SegmentSeries { name, kind, unit, references: mut roots }: SegmentSeries,
) {
    let hidden = shadows.hidden(segment, opened.header(), &name);
    let is_hidden = |span: TimeRange| hidden.iter().any(|hidden| hidden.covers(span));
    if opened.span().is_some_and(is_hidden) {
        return;
    }
    if !hidden.is_empty() && !roots.is_empty() {
        roots.retain(|root| root.summary.rows() == 0 || !is_hidden(root.summary.span()));
        if roots.is_empty() {
            return;
        }
    }
    let new = |name: &SeriesName| Holding { name: name.clone(), kind, unit: String::new(), runs: Vec::new() };
    let holding = found.entry(name).or_insert_with_key(new);
    if holding.unit.is_empty() {
        holding.unit = unit;
    }
    if let Some(first) = roots.iter().find(|root| root.summary.rows() > 0) {
        let (series, rank) = (first.series, opened.header().rank);
        holding.runs.push(Run { segment, series, rank, roots, hidden });
    }
}
