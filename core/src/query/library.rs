//! Several segments as one set of series: which of them a selector means, and what each segment holds of each.
//!
//! A series is its canonical name: segments that hold the same name are its runs. Sealed segments keep the
//! blocks of their tail that were fetched; unsealed ones are a writer, whose open nodes are virtual blocks, or
//! what a scan found, whose chunks stand side by side. The library fetches nothing: it says what it needs and is fed. Points are the query's.

use super::planner::Request;
use super::runs::{Run, Segment, SegmentHandle};
use crate::block::{Block, SegmentId};
use crate::point::{TimeRange, ValueKind};
use crate::segment::{
    Answer, BlockMap, Blocks, Scanned, Sealed, SegmentError, SegmentHeader, Suggest, View, Writer,
};
use crate::series::{RegexMatcher, Selector, SeriesIndex, SeriesName};
use crate::tree::Reference;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// A series and what the segments hold of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Holding {
    /// Its name.
    pub name: SeriesName,
    /// Kind of its first value in the first segment that has it.
    pub kind: ValueKind,
    /// Its unit, or empty.
    pub unit: String,
    /// One run a segment that has rows of it.
    pub runs: Vec<Run>,
}

impl Holding {
    /// From the first row in any segment to behind the last.
    pub fn span(&self) -> TimeRange {
        hull(self.runs.iter().flat_map(|run| &run.roots))
    }

    /// Rows in all runs; those with the same timestamp in several count several times.
    pub fn rows(&self) -> u64 {
        self.runs.iter().flat_map(|run| &run.roots).map(|root| root.summary.rows()).sum()
    }
}

/// A series that some segment knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub name: SeriesName,
    /// Kind of its first value in the first segment that has it.
    pub kind: ValueKind,
    /// The first unit that a segment knows, or empty.
    pub unit: String,
}

/// What the library knows, or what it needs first.
#[derive(Clone, Debug, PartialEq)]
pub enum Found<T> {
    /// The answer.
    Ready(T),
    /// Blocks to feed before the question is asked again; not empty.
    Need(Vec<Request>),
}

enum Member {
    Sealed {
        sealed: Box<Sealed>,
        blocks: BlockMap,
    },
    Unsealed {
        writer: Box<Writer>,
        view: View,
        roots: Vec<Option<Reference>>,
    },
    Scanned(Box<Scanned>),
    /// Taken out; its handle is not given again.
    Removed,
}

impl Member {
    fn header(&self) -> Option<&SegmentHeader> {
        match self {
            Self::Sealed { sealed, .. } => Some(sealed.header()),
            Self::Unsealed { writer, .. } => Some(writer.header()),
            Self::Scanned(scanned) => Some(&scanned.header),
            Self::Removed => None,
        }
    }

    fn span(&self) -> TimeRange {
        match self {
            Self::Sealed { sealed, .. } => sealed.footer().span,
            Self::Unsealed { writer, .. } => writer.span(),
            Self::Scanned(scanned) => hull(scanned.references()),
            Self::Removed => NOTHING,
        }
    }
}

/// The segments.
#[derive(Default)]
pub struct Library {
    members: Vec<Member>,
}

impl Library {
    /// No segments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a sealed segment with the blocks that opening it took.
    pub fn add_sealed(&mut self, sealed: Sealed, blocks: BlockMap) -> SegmentHandle {
        self.add(Member::Sealed { sealed: Box::new(sealed), blocks })
    }

    /// Adds an unsealed segment as a scan found it, or as a writer holds it.
    pub fn add_unsealed(&mut self, mut writer: Writer) -> SegmentHandle {
        let mut view = View::new();
        let roots =
            (0..writer.series_count()).map(|index| writer.root(SeriesIndex(index), &mut view)).collect();
        self.add(Member::Unsealed { writer: Box::new(writer), view, roots })
    }

    /// Adds what a scan found of an unsealed segment, to be read only: no nodes are built over its chunks.
    pub fn add_scanned(&mut self, scanned: Scanned) -> SegmentHandle {
        self.add(Member::Scanned(Box::new(scanned)))
    }

    /// Takes a segment out. The handles of the others stay.
    pub fn remove(&mut self, segment: SegmentHandle) {
        if let Some(member) = self.members.get_mut(segment.0 as usize) {
            *member = Member::Removed;
        }
    }

    fn add(&mut self, member: Member) -> SegmentHandle {
        let handle = SegmentHandle(self.members.len() as u32);
        self.members.push(member);
        handle
    }

    /// How many segments there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The segments as a query wants them, by handle.
    pub fn segments(&self) -> Vec<Segment> {
        self.members
            .iter()
            .map(|member| match member {
                Member::Sealed { sealed, .. } => {
                    Segment { id: sealed.header().id, blocks: sealed.block_count() }
                }
                Member::Unsealed { writer, .. } => {
                    Segment { id: writer.header().id, blocks: writer.block_count() }
                }
                Member::Scanned(scanned) => Segment { id: scanned.header.id, blocks: scanned.end_block },
                // No run names it, so its identity says nothing.
                Member::Removed => {
                    Segment { id: SegmentId { device: [0; 16], epoch: 0, number: 0 }, blocks: 0 }
                }
            })
            .collect()
    }

    /// What a segment is.
    pub fn header(&self, segment: SegmentHandle) -> Option<&SegmentHeader> {
        self.members.get(segment.0 as usize).and_then(Member::header)
    }

    /// From the first row of a segment to behind its last.
    pub fn span(&self, segment: SegmentHandle) -> TimeRange {
        self.members.get(segment.0 as usize).map_or(NOTHING, Member::span)
    }

    /// A block that is at hand here: of a tail that was fetched, or virtual. Others are on the device.
    pub fn block(&self, segment: SegmentHandle, block: u32) -> Option<&Block> {
        match self.members.get(segment.0 as usize)? {
            Member::Sealed { blocks, .. } => blocks.block(block),
            Member::Unsealed { view, .. } => view.block(block),
            Member::Scanned(_) | Member::Removed => None,
        }
    }

    /// Takes blocks that were needed: whole ones, the first as `block`.
    pub fn feed(&mut self, segment: SegmentHandle, block: u32, bytes: &[u8]) {
        if let Some(Member::Sealed { blocks, .. }) = self.members.get_mut(segment.0 as usize) {
            blocks.insert(block, bytes);
        }
    }

    /// The series that `selector` means, in the order of names.
    ///
    /// # Errors
    /// The segment and what is wrong with its tail. Without that segment the others still answer.
    pub fn select(
        &self,
        selector: &Selector,
        regex: &(impl RegexMatcher + ?Sized),
    ) -> Result<Found<Vec<Holding>>, (SegmentHandle, SegmentError)> {
        self.select_within(TimeRange::ALL, selector, regex)
    }

    /// The same of those segments alone that have rows in `range`; the tails of others are not looked at.
    ///
    /// # Errors
    /// As [`Self::select`].
    pub fn select_within(
        &self,
        range: TimeRange,
        selector: &Selector,
        regex: &(impl RegexMatcher + ?Sized),
    ) -> Result<Found<Vec<Holding>>, (SegmentHandle, SegmentError)> {
        let mut found: BTreeMap<SeriesName, Holding> = BTreeMap::new();
        let mut need = Vec::new();
        for (handle, member) in self.handles() {
            // A segment without rows still knows series.
            if !range.overlaps(member.span()) && range != TimeRange::ALL {
                continue;
            }
            match member {
                Member::Sealed { sealed, blocks } => {
                    match sealed.select(blocks, selector, regex).map_err(|error| (handle, error))? {
                        Answer::Need(ranges) => need.extend(requests(handle, ranges)),
                        Answer::Ready(entries) => {
                            for (entry, root) in entries {
                                let rank = sealed.header().rank;
                                hold(
                                    &mut found,
                                    (entry.name, entry.kind, &entry.unit),
                                    handle,
                                    rank,
                                    vec![root],
                                );
                            }
                        }
                    }
                }
                Member::Unsealed { writer, roots, .. } => {
                    for (index, root) in (0..).zip(roots) {
                        let series = writer.series(SeriesIndex(index));
                        let (Some(root), Some((name, kind, unit))) = (root, series) else { continue };
                        if selector.matches(name.name_ref(), regex) {
                            let rank = writer.header().rank;
                            hold(&mut found, (name.clone(), kind, unit), handle, rank, vec![*root]);
                        }
                    }
                }
                Member::Scanned(scanned) => {
                    for (index, (name, kind, unit)) in (0..).zip(scanned.series()) {
                        if selector.matches(name.name_ref(), regex) {
                            let own = |reference: &&Reference| reference.series == index;
                            let chunks: Vec<_> = scanned.references().iter().filter(own).copied().collect();
                            hold(&mut found, (name.clone(), kind, unit), handle, scanned.header.rank, chunks);
                        }
                    }
                }
                Member::Removed => {}
            }
        }
        Ok(if need.is_empty() { Found::Ready(found.into_values().collect()) } else { Found::Need(need) })
    }

    /// The series that `selector` means, in the order of names, without what is held of them.
    ///
    /// # Errors
    /// As [`Self::select`].
    pub fn list(
        &self,
        selector: &Selector,
        regex: &(impl RegexMatcher + ?Sized),
    ) -> Result<Found<Vec<Known>>, (SegmentHandle, SegmentError)> {
        let mut found: BTreeMap<SeriesName, Known> = BTreeMap::new();
        let mut need = Vec::new();
        let mut know = |name: &SeriesName, kind: ValueKind, unit: &str| {
            let new = || Known { name: name.clone(), kind, unit: String::new() };
            let known = found.entry(name.clone()).or_insert_with(new);
            if known.unit.is_empty() {
                known.unit.push_str(unit);
            }
        };
        for (handle, member) in self.handles() {
            match member {
                Member::Sealed { sealed, blocks } => {
                    match sealed.series(blocks, selector, regex).map_err(|error| (handle, error))? {
                        Answer::Need(ranges) => need.extend(requests(handle, ranges)),
                        Answer::Ready(entries) => {
                            entries.iter().for_each(|entry| know(&entry.name, entry.kind, &entry.unit));
                        }
                    }
                }
                Member::Unsealed { writer, .. } => (0..writer.series_count())
                    .filter_map(|index| writer.series(SeriesIndex(index)))
                    .filter(|(name, ..)| selector.matches(name.name_ref(), regex))
                    .for_each(|(name, kind, unit)| know(name, kind, unit)),
                Member::Scanned(scanned) => scanned
                    .series()
                    .filter(|(name, ..)| selector.matches(name.name_ref(), regex))
                    .for_each(|(name, kind, unit)| know(name, kind, unit)),
                Member::Removed => {}
            }
        }
        Ok(if need.is_empty() { Found::Ready(found.into_values().collect()) } else { Found::Need(need) })
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
    ) -> Result<Found<Vec<String>>, (SegmentHandle, SegmentError)> {
        let (mut words, mut need) = (BTreeSet::new(), Vec::new());
        for (handle, member) in self.handles() {
            match member {
                Member::Sealed { sealed, blocks } => {
                    match sealed.suggest(blocks, what, prefix, limit).map_err(|error| (handle, error))? {
                        Answer::Need(ranges) => need.extend(requests(handle, ranges)),
                        Answer::Ready(found) => words.extend(found),
                    }
                }
                Member::Unsealed { writer, .. } => {
                    for index in 0..writer.series_count() {
                        if let Some((name, ..)) = writer.series(SeriesIndex(index)) {
                            suggest_of(name, what, prefix, &mut words);
                        }
                    }
                }
                Member::Scanned(scanned) => {
                    scanned.series().for_each(|(name, ..)| suggest_of(name, what, prefix, &mut words));
                }
                Member::Removed => {}
            }
        }
        Ok(match need.is_empty() {
            true => Found::Ready(words.into_iter().take(limit).collect()),
            false => Found::Need(need),
        })
    }

    fn handles(&self) -> impl Iterator<Item = (SegmentHandle, &Member)> {
        (0..).map(SegmentHandle).zip(&self.members)
    }
}

/// The span of nothing.
const NOTHING: TimeRange = TimeRange::new(0, 0);

/// The smallest span around all of `references`.
fn hull<'a>(references: impl IntoIterator<Item = &'a Reference>) -> TimeRange {
    let spans = references.into_iter().map(|reference| reference.summary.span());
    spans.reduce(|a, b| TimeRange::new(a.begin.min(b.begin), a.end.max(b.end))).unwrap_or(NOTHING)
}

fn requests(segment: SegmentHandle, ranges: Vec<core::ops::Range<u32>>) -> impl Iterator<Item = Request> {
    ranges.into_iter().map(move |range| Request {
        segment,
        block: range.start,
        count: range.end - range.start,
    })
}

fn hold(
    found: &mut BTreeMap<SeriesName, Holding>,
    (name, kind, unit): (SeriesName, ValueKind, &str),
    segment: SegmentHandle,
    rank: u64,
    roots: Vec<Reference>,
) {
    let holding = found.entry(name.clone()).or_insert_with(|| Holding {
        name,
        kind,
        unit: String::from(unit),
        runs: Vec::new(),
    });
    if let Some(first) = roots.iter().find(|root| root.summary.rows() > 0) {
        holding.runs.push(Run { segment, series: first.series, rank, roots });
    }
}

fn suggest_of(name: &SeriesName, what: Suggest<'_>, prefix: &str, words: &mut BTreeSet<String>) {
    let mut put = |word: &str| {
        if word.starts_with(prefix) {
            words.insert(String::from(word));
        }
    };
    match what {
        Suggest::Metric => put(&name.metric()),
        Suggest::Tag => name.tags().for_each(|(tag, _)| put(&tag)),
        Suggest::Value(wanted) => {
            if let Some(value) = name.tag(wanted) {
                put(&value);
            }
        }
    }
}
