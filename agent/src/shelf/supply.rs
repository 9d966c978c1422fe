//! The shelf: core's library of open segments, and the files from which it is fed.
//!
//! What can't be read costs itself only: a file whose tail is damaged is read block by block from then on,
//! one that can't even be scanned is left out, and both are reported.

use std::time::{Duration, Instant};

use siltstone_core::point::TimeRange;
use siltstone_core::query::{Found, Holding, Library, Request, SegmentFault, SegmentHandle, SegmentReads};
use siltstone_core::segment::{Opened, SegmentError, Suggest};

use super::member::{Member, Place};
use super::selector::ParsedSelector;

/// Warnings that an answer carries.
const WARNINGS_MAX: usize = 100;

/// Block files side by side.
#[derive(Default)]
pub struct Shelf {
    pub(super) library: Library,
    /// By the handles of the library.
    places: Vec<Place>,
    warnings: Vec<String>,
    /// What questions read, by the partitions of the segments.
    reads: Vec<(TimeRange, SegmentReads)>,
    pub(super) deadline: Option<Instant>,
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
        for warning in &member.place.warnings {
            self.warn(warning.clone());
        }
        self.library.add(member.opened);
        self.places.push(member.place);
    }

    /// The files, when the shelf is not needed any more.
    pub fn into_members(mut self) -> Vec<Member> {
        let places = (0..).map(SegmentHandle).zip(self.places);
        places
            .filter_map(|(segment, place)| Some(Member { place, opened: self.library.remove(segment)? }))
            .collect()
    }

    /// Notes what a question read of each segment.
    pub(super) fn note_reads(&mut self, reads: &[SegmentReads]) {
        let by_handle = (0..).map(SegmentHandle).zip(reads).filter(|(_, reads)| reads.blocks > 0);
        let of_partition =
            by_handle.filter_map(|(segment, reads)| Some((self.library.header(segment)?.partition, *reads)));
        self.reads.extend(of_partition);
    }

    /// What questions read since this was last asked, with the partitions of the segments.
    pub fn take_reads(&mut self) -> Vec<(TimeRange, SegmentReads)> {
        std::mem::take(&mut self.reads)
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

    /// From the first row in any file to behind the last; `None` without rows.
    pub fn span(&self) -> Option<TimeRange> {
        self.library.span()
    }

    /// The series that `selector` means, in the order of names, and what the files hold of them.
    pub fn select(&mut self, selector: &ParsedSelector) -> Vec<Holding> {
        let ask = |library: &Library| library.select(&selector.selector, &selector.patterns);
        self.found(ask, Self::scan_instead)
    }

    /// The same without what is held of them.
    pub fn list(&mut self, selector: &ParsedSelector) -> Vec<Holding> {
        let ask = |library: &Library| library.list(&selector.selector, &selector.patterns);
        self.found(ask, Self::scan_instead)
    }

    /// Completions of `prefix`, in order. Files that have no index are passed over.
    pub fn suggest(&mut self, what: Suggest<'_>, prefix: &str, limit: usize) -> Vec<String> {
        self.found(|library| library.suggest(what, prefix, limit), Self::leave_out)
    }

    /// Asks the library until it has the blocks that it needs.
    pub(super) fn found<T>(
        &mut self,
        ask: impl Fn(&Library) -> Result<Found<T>, SegmentFault>,
        give_up: impl Fn(&mut Self, SegmentHandle, String),
    ) -> T {
        loop {
            match ask(&self.library) {
                Ok(Found::Ready(answer)) => return answer,
                Ok(Found::Need(requests)) => {
                    for request in requests {
                        if let Err(reason) = self.supply(&request) {
                            give_up(self, request.segment, reason);
                        }
                    }
                }
                Err((segment, fault)) => give_up(self, segment, fault.to_string()),
            }
        }
    }

    /// Feeds the library with blocks of a tail.
    fn supply(&mut self, request: &Request) -> Result<(), String> {
        if !matches!(self.library.get(request.segment), Some(Opened::Sealed { .. })) {
            // It was given up because of a request before this one.
            return Ok(());
        }
        let bytes = self.fetch(request)?;
        if bytes.len() < super::source::bytes_of(request.count) {
            return Err(SegmentError::Truncated.to_string());
        }
        self.library.feed(request.segment, request.block, &bytes);
        Ok(())
    }

    /// Reads a file block by block from now on.
    pub(super) fn scan_instead(&mut self, segment: SegmentHandle, reason: String) {
        let Some(place) = self.places.get(segment.0 as usize).cloned() else { return };
        let Some(source) = place.source else { return self.leave_out(segment, reason) };
        let mut warnings = place.warnings;
        warnings.push(format!("{}: {reason}; it is read block by block", source.label()));
        match Member::scan(source, warnings.clone()) {
            Ok(member) => {
                member.place.warnings.iter().for_each(|warning| self.warn(warning.clone()));
                self.library.replace(segment, member.opened);
                if let Some(place) = self.places.get_mut(segment.0 as usize) {
                    *place = member.place;
                }
            }
            Err(error) => {
                warnings.into_iter().for_each(|warning| self.warn(warning));
                self.warn(error.to_string());
                self.library.remove(segment);
            }
        }
    }

    fn leave_out(&mut self, segment: SegmentHandle, _reason: String) {
        self.library.remove(segment);
    }

    /// Blocks from memory where they are there, else from their file; what lies behind its end is missing.
    pub(super) fn fetch(&self, request: &Request) -> Result<Vec<u8>, String> {
        if let Some(bytes) = self.library.read(request) {
            return Ok(bytes);
        }
        match self.places.get(request.segment.0 as usize).and_then(|place| place.source.as_ref()) {
            Some(source) => source.read(request.block, request.count),
            None => Err(format!("block {} is not in memory", request.block)),
        }
    }

    /// How people know the file of a segment.
    pub(super) fn label(&self, segment: SegmentHandle) -> &str {
        let source = self.places.get(segment.0 as usize).and_then(|place| place.source.as_ref());
        source.map_or("memory", |source| source.label())
    }
}
