//! Several segments as one set of series: which of them a selector means, and what each segment holds of each.
//!
//! A series is its canonical name: segments that hold the same name are its runs. Sealed segments keep the
//! blocks of their tail that were fetched; unsealed ones were scanned and keep their open nodes as virtual
//! blocks. The library fetches nothing: it says what it needs and is fed. Points are the query's.

use super::planner::Request;
use super::runs::{Run, Segment, SegmentHandle};
use crate::block::Block;
use crate::point::{TimeRange, ValueKind};
use crate::segment::{Answer, BlockMap, Blocks, Sealed, SegmentError, SegmentHeader, Suggest, View, Writer};
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
        let spans = self.runs.iter().flat_map(|run| &run.roots).map(|root| root.summary.span());
        spans
            .reduce(|a, b| TimeRange::new(a.begin.min(b.begin), a.end.max(b.end)))
            .unwrap_or(TimeRange::new(0, 0))
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

enum Member {
    Sealed { sealed: Box<Sealed>, blocks: BlockMap },
    Unsealed { writer: Box<Writer>, view: View, roots: Vec<Option<Reference>> },
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
            })
            .collect()
    }

    /// What a segment is.
    pub fn header(&self, segment: SegmentHandle) -> Option<&SegmentHeader> {
        self.members.get(segment.0 as usize).map(|member| match member {
            Member::Sealed { sealed, .. } => sealed.header(),
            Member::Unsealed { writer, .. } => writer.header(),
        })
    }

    /// A block that is at hand here: of a tail that was fetched, or virtual. Others are on the device.
    pub fn block(&self, segment: SegmentHandle, block: u32) -> Option<&Block> {
        match self.members.get(segment.0 as usize)? {
            Member::Sealed { blocks, .. } => blocks.block(block),
            Member::Unsealed { view, .. } => view.block(block),
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
        let mut found: BTreeMap<SeriesName, Holding> = BTreeMap::new();
        let mut need = Vec::new();
        for (handle, member) in self.handles() {
            match member {
                Member::Sealed { sealed, blocks } => {
                    match sealed.select(blocks, selector, regex).map_err(|error| (handle, error))? {
                        Answer::Need(ranges) => need.extend(requests(handle, ranges)),
                        Answer::Ready(entries) => {
                            for (entry, root) in entries {
                                let rank = sealed.header().rank;
                                hold(&mut found, (entry.name, entry.kind, &entry.unit), handle, rank, root);
                            }
                        }
                    }
                }
                Member::Unsealed { writer, roots, .. } => {
                    for (index, root) in (0..).zip(roots) {
                        let series = writer.series(SeriesIndex(index));
                        let (Some(root), Some((name, kind, unit))) = (root, series) else { continue };
                        if selector.matches(name.name_ref(), regex) {
                            hold(&mut found, (name.clone(), kind, unit), handle, writer.header().rank, *root);
                        }
                    }
                }
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
    root: Reference,
) {
    let holding = found.entry(name.clone()).or_insert_with(|| Holding {
        name,
        kind,
        unit: String::from(unit),
        runs: Vec::new(),
    });
    if root.summary.rows() > 0 {
        holding.runs.push(Run { segment, series: root.series, rank, roots: vec![root] });
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
