//! Work for idle time: seals of what is over, drops of what is too old, merges, and what they leave behind.
//!
//! Each call does one small step, so that points and questions wait for it no longer than for a commit. A merge
//! that can't be written is given up and costs nothing; only its last act, giving the result its name, is the
//! store's own and must not fail halfway. The order of writes and what each interruption leaves is in
//! `docs/recovery.md`.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use super::device::{Device, Medium};
use super::error::StoreError;
use super::expire::{Aged, Protected};
use super::merge::{Budget, Candidate, Merge, Progress, Proven, Tombstone, choose};
use super::open_segment::OpenSegment;
use super::running::Store;
use super::segment_file::{self, SegmentFile, SegmentState, ask};
use super::waste::Waste;
use crate::block::SegmentId;
use crate::point::TimeRange;
use crate::segment::{BlockMap, Rooted, SegmentHeader, SegmentKind, SegmentNumber};
use crate::tree::Reference;

/// Whether there is more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Nothing, until something is written.
    Idle,
    /// Call again when there is time.
    More,
}

/// What the work of idle time is about.
#[derive(Debug)]
pub(super) struct Chores<D> {
    /// A segment whose partition is over.
    pub(super) sealing: Option<OpenSegment<D>>,
    /// Which segments the journal may hold points of.
    pub(super) protected: Protected,
    /// The partition that went last by its age.
    pub(super) aged: Option<Aged>,
    merge: Option<Merge<D>>,
    /// Files of which nothing counts any more, to be unlinked.
    pub(super) spent: Vec<SegmentFile>,
    /// Blocks of files below `segments/` that are not touched: of a newer format, or unfinished and not to be removed.
    pub(super) foreign_blocks: u64,
    /// Blocks written to segments when the quota was last seen to.
    pub(super) weighed_at: Option<u64>,
    /// Segments that could not be merged: not again before the next start.
    spoiled: BTreeSet<SegmentNumber>,
    /// Number and rank that the next segment would have had when there was nothing to do.
    idle_at: Option<(u32, u64)>,
    /// Where questions waste reads.
    pub(super) waste: Waste,
}

impl<D: Device> Chores<D> {
    pub(super) fn new(spent: Vec<SegmentFile>) -> Self {
        Self {
            sealing: None,
            protected: Protected::default(),
            aged: None,
            merge: None,
            spent,
            foreign_blocks: 0,
            weighed_at: None,
            spoiled: BTreeSet::new(),
            idle_at: None,
            waste: Waste::default(),
        }
    }

    /// There may be something to do though nothing was written.
    pub(super) fn look_again(&mut self) {
        self.idle_at = None;
    }

    /// Blocks that the result of the merge in progress takes.
    pub(super) fn part_blocks(&self) -> u64 {
        self.merge.as_ref().map_or(0, |merge| merge.written_blocks)
    }

    /// Gives up the merge of a segment that goes.
    pub(super) fn give_up_merge_of<M: Medium>(&mut self, input: &SegmentNumber, medium: &mut M) {
        if self.merge.as_ref().is_some_and(|merge| merge.takes(input)) {
            self.give_up_merge(medium);
        }
    }

    /// Gives up the merge in progress.
    pub(super) fn give_up_merge<M: Medium>(&mut self, medium: &mut M) {
        if let Some(merge) = self.merge.take() {
            self.remove_part(&merge.part, merge.written_blocks, medium);
        }
    }

    /// Removes what a merge wrote. It stays until the next start where it can't be removed now.
    fn remove_part<M: Medium>(&mut self, path: &str, blocks: u64, medium: &mut M) {
        if medium.remove(path).is_err() {
            self.foreign_blocks += blocks;
        }
    }
}

impl<M: Medium> Store<M> {
    /// Does a small step of what can wait: about `rows_max` rows of a merge, some blocks of a
    /// segment that is sealed, or a few files unlinked.
    ///
    /// # Errors
    /// The medium: then the store takes nothing more.
    pub fn work(&mut self, rows_max: usize) -> Result<Work, StoreError<M::Error>> {
        self.guarded(|store| {
            let work = store.work_step(rows_max)?;
            store.keep_quota()?;
            Ok(work)
        })
    }

    fn work_step(&mut self, rows_max: usize) -> Result<Work, StoreError<M::Error>> {
        if !self.chores.spent.is_empty() {
            self.unlink_spent()?;
            return Ok(Work::More);
        }
        if self.sealing_step()? || self.expire()? {
            return Ok(Work::More);
        }
        if let Some(merge) = self.chores.merge.take() {
            self.go_on(merge, rows_max)?;
            return Ok(Work::More);
        }
        let state = (self.next_number, self.next_rank);
        if self.chores.idle_at == Some(state) {
            return Ok(Work::Idle);
        }
        self.take_spent_tombstones();
        if !self.chores.spent.is_empty() || self.begin_merge()? {
            return Ok(Work::More);
        }
        self.chores.idle_at = Some(state);
        Ok(Work::Idle)
    }

    /// A tombstone has done its work where nothing of a lower rank is left in its span that it was not applied to.
    fn take_spent_tombstones(&mut self) {
        let hidden = |tombstone: &SegmentFile, other: &SegmentFile| {
            other.header.id.device == tombstone.header.id.device
                && other.header.kind != SegmentKind::Tombstones
                && other.header.rank < tombstone.header.rank
                && other.header.partition.overlaps(tombstone.header.partition)
                && !other.supersedes.applied.contains(&SegmentNumber::of(&tombstone.header.id))
        };
        let open: Vec<&SegmentFile> =
            self.open.iter().filter_map(|open| open.segment.as_ref()).map(|segment| &segment.file).collect();
        let files: Vec<SegmentFile> = self.segments.iter().chain(open).cloned().collect();
        let is_spent = |file: &mut SegmentFile| {
            file.header.kind == SegmentKind::Tombstones && !files.iter().any(|other| hidden(file, other))
        };
        self.chores.spent.extend(self.segments.extract_if(.., is_spent));
    }

    pub(super) fn unlink_spent(&mut self) -> Result<(), StoreError<M::Error>> {
        let mut directories = BTreeSet::new();
        for file in &self.chores.spent {
            self.medium.remove(&file.path)?;
            directories.extend(file.path.rsplit_once('/').map(|(directory, _)| directory));
        }
        for directory in directories {
            self.medium.sync_directory(directory)?;
        }
        self.chores.spent.clear();
        Ok(())
    }

    fn go_on(&mut self, mut merge: Merge<M::Device>, rows_max: usize) -> Result<(), StoreError<M::Error>> {
        let before = merge.written_blocks;
        // What fails here fails in files that do not count.
        let progress = merge.step(rows_max).unwrap_or(Progress::Impossible);
        self.written.merges += merge.written_blocks - before;
        match progress {
            Progress::More => self.chores.merge = Some(merge),
            Progress::Impossible => self.give_up(&merge),
            Progress::Proven(proven) => self.publish(&merge, *proven)?,
        }
        Ok(())
    }

    /// Forgets a merge.
    fn give_up(&mut self, merge: &Merge<M::Device>) {
        self.chores.spoiled.extend(merge.inputs());
        self.chores.remove_part(&merge.part, merge.written_blocks, &mut self.medium);
    }

    /// Gives a finished merge its name: from here on its inputs count no more.
    fn publish(&mut self, merge: &Merge<M::Device>, proven: Proven) -> Result<(), StoreError<M::Error>> {
        // Whatever the journal alone holds in order must not lie below the heads that the next start
        // will read from the result: it may end later than the in-order segments among its inputs.
        self.checkpoint_now(false)?;
        self.medium.rename(&merge.part, &merge.path)?;
        if let Some((directory, _)) = merge.path.rsplit_once('/') {
            self.medium.sync_directory(directory)?;
        }
        let header = *merge.writer.header();
        let supersedes = merge.writer.supersedes().clone();
        let block_count = merge.writer.block_count();
        let file = SegmentFile {
            path: merge.path.clone(),
            header,
            block_count,
            file_blocks: block_count,
            state: SegmentState::Sealed(proven.sealed),
            supersedes,
            sealed_epoch: merge.writer.write_epoch(),
        };
        let is_input = |other: &mut SegmentFile| file.takes_the_place_of(&other.header.id);
        self.chores.spent.extend(self.segments.extract_if(.., is_input));
        for (name, kind, unit, last) in proven.last_times {
            let series = self.table.add(&name, kind, &unit).map_err(|_| StoreError::TooManySeries)?;
            for open in self.open.iter_mut().filter(|open| open.partition.range.contains(last)) {
                open.heads.raise(series, last);
            }
        }
        self.chores.waste.forget(header.partition.begin);
        self.segments.push(file);
        self.segments.sort_by_key(|file| file.header.rank);
        Ok(())
    }

    /// Begins the merge that is most worth it; false where none is.
    fn begin_merge(&mut self) -> Result<bool, StoreError<M::Error>> {
        let Some(files) = self.choose_files()? else { return Ok(false) };
        let Some(last) = files.last() else { return Ok(false) };
        let range = last.header.partition;
        let lowest = files.iter().map(|file| file.header.rank).min().unwrap_or(0);
        let Some(tombstones) = self.tombstones(range, lowest)? else { return Ok(false) };
        let mut covered_lsn = files.iter().map(|file| file.header.covered_lsn).max().unwrap_or(0);
        if !tombstones.is_empty() {
            // From here on no replay brings back what the merge takes away, not even one that begins
            // further back because the last checkpoint's record is damaged.
            self.checkpoint_now(false)?;
            covered_lsn = self.journal.position();
        }
        let id = SegmentId { device: self.device, epoch: self.epoch, number: self.next_number };
        self.next_number += 1;
        let header = SegmentHeader {
            id,
            kind: Merge::<M::Device>::kind(&files),
            rank: last.header.rank,
            partition: range,
            max_hold_ns: self.config.max_hold_ns,
            covered_lsn,
            writer: SegmentHeader::writer_name(self.config.writer),
        };
        let directory = last.path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let path = format!("{directory}/{}", segment_file::file_name(&id));
        let blocks_max = self.merge_blocks_max();
        match Merge::begin(&mut self.medium, &files, tombstones, header, path, blocks_max) {
            Ok(Some(merge)) => self.chores.merge = Some(merge),
            // No room for it, or an input that can't be opened: nothing is lost by not merging.
            Ok(None) | Err(_) => {
                self.chores.spoiled.extend(files.iter().map(|file| SegmentNumber::of(&file.header.id)));
            }
        }
        Ok(true)
    }

    /// The files of the best merge.
    fn choose_files(&mut self) -> Result<Option<Vec<SegmentFile>>, StoreError<M::Error>> {
        let segment_blocks_max = u64::from(self.config.segment_blocks_max);
        let budget = Budget::of(&self.written, self.config.merge_percent, segment_blocks_max)
            .within(self.merge_blocks_max());
        let mut ranges: Vec<TimeRange> = Vec::new();
        for file in &self.segments {
            let range = file.header.partition;
            if file.header.kind != SegmentKind::Tombstones && !ranges.contains(&range) {
                ranges.push(range);
            }
        }
        for range in ranges {
            let (candidates, files) = self.candidates(range)?;
            let is_wasteful = self.chores.waste.is_in(range.begin);
            if let Some(chosen) = choose(&candidates, self.config.merge_neighbours, is_wasteful, budget) {
                return Ok(Some(files[chosen].iter().filter_map(Clone::clone).collect()));
            }
        }
        Ok(None)
    }

    /// The segments of a partition in the order of ranks; those that are written have no file here.
    #[expect(clippy::type_complexity, reason = "two lists side by side")]
    fn candidates(
        &mut self,
        range: TimeRange,
    ) -> Result<(Vec<Candidate>, Vec<Option<SegmentFile>>), StoreError<M::Error>> {
        let Some(tombstones) = self.tombstones(range, 0)? else { return Ok(Default::default()) };
        let mut list: Vec<(u64, Candidate, Option<SegmentFile>)> = Vec::new();
        for file in &self.segments {
            if file.header.partition != range || file.header.kind == SegmentKind::Tombstones {
                continue;
            }
            let is_own = file.header.id.device == self.device;
            let is_spoiled = self.chores.spoiled.contains(&SegmentNumber::of(&file.header.id));
            let (rows, dead_rows) = self.rows(file, &tombstones)?;
            let candidate = Candidate {
                blocks: u64::from(file.block_count),
                rows,
                dead_rows,
                is_mergeable: is_own && !is_spoiled && matches!(file.state, SegmentState::Sealed(_)),
                is_in_order: file.is_in_order(),
            };
            list.push((file.header.rank, candidate, Some(file.clone())));
        }
        let open = self.open.iter().filter_map(|open| open.segment.as_ref());
        for segment in open.filter(|segment| segment.file.header.partition == range) {
            let candidate = Candidate::default();
            list.push((segment.file.header.rank, candidate, None));
        }
        list.sort_by_key(|(rank, ..)| *rank);
        Ok(list.into_iter().map(|(_, candidate, file)| (candidate, file)).unzip())
    }

    /// Rows of a sealed segment, and how many of them tombstones hide: whole series only, which is what
    /// summaries can tell.
    fn rows(&self, file: &SegmentFile, tombstones: &[Tombstone]) -> Result<(u64, u64), StoreError<M::Error>> {
        let SegmentState::Sealed(sealed) = &file.state else { return Ok((0, 0)) };
        let rows = sealed.footer().rows;
        let is_above = |tombstone: &&Tombstone| {
            tombstone.rank > file.header.rank && !file.supersedes.applied.contains(&tombstone.segment)
        };
        let above: Vec<&Tombstone> = tombstones.iter().filter(is_above).collect();
        if above.is_empty() {
            return Ok((rows, 0));
        }
        let mut dead = 0;
        for (entry, roots) in self.series_of_file(file)?.unwrap_or_default() {
            let is_dead = |root: &&Reference| {
                let span = root.summary.span();
                above.iter().any(|above| above.span.covers(span) && above.names.contains(&entry.name))
            };
            dead += roots.iter().filter(is_dead).map(|root| root.summary.rows()).sum::<u64>();
        }
        Ok((rows, dead))
    }

    /// The tombstones above `rank` that touch `range`, with their names; `None` where one can't be read:
    /// then nothing that it may hide is to be touched.
    fn tombstones(
        &self,
        range: TimeRange,
        rank: u64,
    ) -> Result<Option<Vec<Tombstone>>, StoreError<M::Error>> {
        let mut tombstones = Vec::new();
        let own = self.segments.iter().filter(|file| file.header.id.device == self.device);
        for file in own.filter(|file| file.header.kind == SegmentKind::Tombstones) {
            let header = &file.header;
            if header.rank <= rank || !header.partition.overlaps(range) {
                continue;
            }
            let Some(names) = self.series_of_file(file)? else { return Ok(None) };
            let names = names.into_iter().map(|(entry, _)| entry.name).collect();
            let segment = SegmentNumber::of(&header.id);
            tombstones.push(Tombstone { segment, rank: header.rank, span: header.partition, names });
        }
        Ok(Some(tombstones))
    }

    /// All series of a sealed segment; `None` where its catalog can't be read.
    fn series_of_file(&self, file: &SegmentFile) -> Result<Option<Vec<Rooted>>, StoreError<M::Error>> {
        let (SegmentState::Sealed(sealed), Some(device)) = (&file.state, self.medium.open(&file.path)?)
        else {
            return Ok(None);
        };
        let page = ask(&device, &mut BlockMap::new(), |blocks| sealed.page(blocks, 0..u32::MAX))?;
        Ok(page.ok())
    }
}

/// Takes out the segments that others of the same device have taken the place of.
pub(super) fn take_superseded(segments: &mut Vec<SegmentFile>) -> Vec<SegmentFile> {
    let results: Vec<SegmentFile> =
        segments.iter().filter(|file| !file.supersedes.inputs.is_empty()).cloned().collect();
    let is_input =
        |file: &mut SegmentFile| results.iter().any(|result| result.takes_the_place_of(&file.header.id));
    segments.extract_if(.., is_input).collect()
}
