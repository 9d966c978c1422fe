//! Heads that segments carry: what is written of a partition's heads at a seal, and how few segments are read for
//! them when the partition is opened again.
//!
//! A sealed in-order segment says where its own series end, and where those of the segments do that it lists
//! (`docs/format.md`, chapter 11). A listed one need not be read. Whatever is not listed is, in the plain way: a
//! segment that was damaged, or gone on with, or that another merge made since. So a head is never lower than what
//! the segments hold, whatever order they were sealed in. It may be higher where what ended there was dropped or
//! deleted since: heads outlive that, as they do while the store runs.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::device::{Device, Medium};
use super::error::StoreError;
use super::head::Heads;
use super::running::Store;
use super::segment_file::{LastTime, SegmentFile, SegmentState, ask};
use crate::point::TimeRange;
use crate::segment::{BlockMap, Carried, CarriedHead, Sealed, SealedNumber, SegmentNumber};
use crate::series::{NoRegex, Selector};

/// Which segments are listed, and where series end in them and in the one that lists them.
pub(super) type Carries = (Vec<SealedNumber>, Vec<LastTime>);

/// What a sealed segment on `device` carries; `None` where it carries nothing, or nothing that can be read.
///
/// # Errors
/// The medium.
pub(super) fn read<D: Device>(sealed: &Sealed, device: &D) -> Result<Option<Carries>, D::Error> {
    let Ok(all) = Selector::parse("{}") else { return Ok(None) };
    let mut blocks = BlockMap::new();
    let Ok(Some(section)) = ask(device, &mut blocks, |blocks| sealed.heads(blocks))? else {
        return Ok(None);
    };
    let Ok(names) = ask(device, &mut blocks, |blocks| sealed.series(blocks, &all, &NoRegex))? else {
        return Ok(None);
    };
    if names.len() != section.own.len() {
        return Ok(None);
    }
    let own = names.into_iter().zip(section.own);
    let own = own.filter_map(|(entry, at)| Some((entry.name, entry.kind, entry.unit, at?)));
    let others = section.others.into_iter();
    let others = others.map(|CarriedHead { name, kind, unit, at }| (name, kind, unit, at));
    Ok(Some((section.segments, own.chain(others).collect())))
}

impl SegmentFile {
    /// How others list it, where it is sealed.
    pub(super) fn sealed_number(&self) -> Option<SealedNumber> {
        let number =
            SealedNumber { segment: SegmentNumber::of(&self.header.id), sealed_epoch: self.sealed_epoch };
        matches!(self.state, SegmentState::Sealed(_)).then_some(number)
    }
}

impl<M: Medium> Store<M> {
    /// Raises heads to where the series of a partition end, as its segments say, one segment at a time.
    ///
    /// # Errors
    /// The medium; more series than there may be.
    pub(super) fn raise_to_segments(
        &mut self,
        range: TimeRange,
        heads: &mut Heads,
    ) -> Result<(), StoreError<M::Error>> {
        let device = self.device;
        let is_wanted = |file: &&SegmentFile| {
            let header = &file.header;
            file.is_in_order() && header.id.device == device && header.partition.overlaps(range)
        };
        let mut files: Vec<&SegmentFile> = self.segments.iter().filter(is_wanted).collect();
        files.sort_by_key(|file| Reverse(file.header.rank));
        let mut listed = BTreeSet::new();
        for file in files {
            // Where the setting changed, lists speak of other partitions.
            let is_same = file.header.partition == range;
            if is_same && file.sealed_number().is_some_and(|number| listed.contains(&number)) {
                continue;
            }
            let Some(device) = self.medium.open(&file.path)? else { continue };
            let carried = match &file.state {
                SegmentState::Sealed(sealed) if is_same => read(sealed, &device)?,
                _ => None,
            };
            let ends = match carried {
                Some((segments, ends)) => {
                    listed.extend(segments);
                    ends
                }
                None => file.last_times(&device)?,
            };
            for (name, kind, unit, last) in ends {
                let series = self.table.add(&name, kind, &unit).map_err(|_| StoreError::TooManySeries)?;
                heads.raise(series, last);
            }
        }
        Ok(())
    }

    /// Seals what is open in a partition.
    ///
    /// # Errors
    /// The medium.
    pub(super) fn seal_segment(&mut self, place: usize) -> Result<(), StoreError<M::Error>> {
        self.carry(place);
        if let Some(open) = self.open.get_mut(place) {
            self.segments.extend(open.seal_segment(&mut self.written)?);
        }
        Ok(())
    }

    /// Tells the open segment of a partition, which takes no more from here on, what it is to carry.
    pub(super) fn carry(&mut self, place: usize) {
        let Some(open) = self.open.get_mut(place) else { return };
        let Some(segment) = &mut open.segment else { return };
        // The last point of a series in memory may belong to a message of which not all is in segments yet. What counts is
        // where its rows end, in this segment and in the sealed ones.
        for (_, name, _, _, span) in segment.writer.series_with_rows() {
            if let Some(series) = self.table.live().find(name) {
                open.heads.raise(series, span.end.saturating_sub(1));
            }
        }
        let of_others = open.heads.fixed().filter_map(|(series, at)| {
            let (name, kind, unit) = self.table.get(series)?;
            let own = segment.writer.find(name).and_then(|index| segment.writer.last_at(index));
            let head = || CarriedHead { name: name.clone(), kind, unit: String::from(unit), at };
            own.is_none_or(|own| own < at).then(head)
        });
        let heads = of_others.collect();
        let (device, range) = (self.device, open.partition.range);
        let is_listed = |file: &&SegmentFile| {
            let header = &file.header;
            file.is_in_order() && header.id.device == device && header.partition == range
        };
        let listed = self.segments.iter().filter(is_listed);
        let segments = listed.filter_map(SegmentFile::sealed_number).collect();
        segment.writer.carry(Carried { segments, heads });
    }
}
