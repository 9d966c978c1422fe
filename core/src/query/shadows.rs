//! What segments say of other segments: which they took the place of, and what is deleted in them.
//!
//! Ranks and numbers are those of one store, so nothing here reaches across devices.

use super::library::{Library, SegmentFault};
use super::planner::Request;
use super::runs::SegmentHandle;
use crate::block::SegmentId;
use crate::point::TimeRange;
use crate::segment::{Answer, Opened, SegmentHeader, SegmentKind, SegmentNumber, Supersedes};
use crate::series::{RegexMatcher, Selector, SeriesName};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// A tombstone segment with those of its names that were asked for.
#[derive(Debug)]
struct Tombstone {
    header: SegmentHeader,
    names: BTreeSet<SeriesName>,
}

/// What lies over the segments, as far as some series are concerned.
#[derive(Debug, Default)]
pub(super) struct Shadows {
    tombstones: Vec<Tombstone>,
    merged: BTreeMap<SegmentHandle, (SegmentHeader, Supersedes)>,
}

impl Shadows {
    /// Collects what `library` says of the series that `selector` means; gives what is needed first.
    pub(super) fn of(
        library: &Library,
        selector: &Selector,
        regex: &(impl RegexMatcher + ?Sized),
    ) -> Result<(Self, Vec<Request>), SegmentFault> {
        let (mut shadows, mut need) = (Self::default(), Vec::new());
        for (handle, opened) in library.handles() {
            let header = *opened.header();
            let wrong = |error| (handle, error);
            if header.kind == SegmentKind::Tombstones {
                match opened.list(selector, regex).map_err(wrong)? {
                    Answer::Need(ranges) => need.extend(Request::of(handle, ranges)),
                    Answer::Ready(series) => {
                        let names = series.into_iter().map(|series| series.name).collect();
                        shadows.tombstones.push(Tombstone { header, names });
                    }
                }
                continue;
            }
            let Opened::Sealed { sealed, blocks } = opened else { continue };
            match sealed.supersedes(blocks).map_err(wrong)? {
                Answer::Need(ranges) => need.extend(Request::of(handle, ranges)),
                Answer::Ready(supersedes) if supersedes == Supersedes::default() => {}
                Answer::Ready(supersedes) => drop(shadows.merged.insert(handle, (header, supersedes))),
            }
        }
        Ok((shadows, need))
    }

    /// Whether the rows of a segment are all in another one that is here.
    pub(super) fn is_superseded(&self, id: &SegmentId) -> bool {
        let number = SegmentNumber::of(id);
        let mut merged = self.merged.values();
        merged.any(|(header, list)| header.id.device == id.device && list.inputs.contains(&number))
    }

    /// The spans in which nothing counts of what a segment has of a series: in order, disjoint.
    pub(super) fn hidden(
        &self,
        segment: SegmentHandle,
        header: &SegmentHeader,
        series: &SeriesName,
    ) -> Vec<TimeRange> {
        let applied = self.merged.get(&segment).map(|(_, list)| list.applied.as_slice()).unwrap_or_default();
        let hides = |tombstone: &&Tombstone| {
            let above = &tombstone.header;
            above.id.device == header.id.device
                && above.rank > header.rank
                && !applied.contains(&SegmentNumber::of(&above.id))
                && tombstone.names.contains(series)
        };
        let hiding = self.tombstones.iter().filter(hides);
        let mut spans: Vec<TimeRange> = hiding.map(|tombstone| tombstone.header.partition).collect();
        spans.sort_by_key(|span| span.begin);
        let mut joined: Vec<TimeRange> = Vec::new();
        for span in spans {
            match joined.last_mut() {
                Some(last) if span.begin <= last.end => last.end = last.end.max(span.end),
                _ => joined.push(span),
            }
        }
        joined
    }
}
