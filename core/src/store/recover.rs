//! Opening a store: whatever a power cut, a kill or a rotten card left, made one state again.
//!
//! The order is that of `docs/recovery.md`: identity and segments ([`Look`]), journal, a new epoch that is durable before
//! anything else is written, the replay, and a checkpoint that makes all of its decisions durable
//! before the first new point. It may be interrupted anywhere and done again. Nothing is deleted but
//! `*.part`; what can't be read is set aside and counted, and is no reason not to start.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::config::StoreConfig;
use super::device::Medium;
use super::error::StoreError;
use super::expire::Protected;
use super::head::Heads;
use super::identity::Window;
use super::journal::{self, Found, JournalDamage};
use super::late::LatePoints;
use super::limits::OPEN_PARTITIONS_MAX;
use super::look::Look;
use super::open_segment::OpenSegment;
use super::partition::Partition;
use super::replay::Replay;
use super::running::Store;
use super::segment_file::{LastTime, SegmentFile, SegmentState, scan};
use super::series_table::SeriesTable;
use super::work::{Chores, take_superseded};
use crate::block::DeviceId;
use crate::segment::{SegmentError, SegmentKind, SegmentNumber, Writer};
use crate::series::SeriesName;

/// What opening a store found and did.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Recovery {
    /// There was no store here before.
    pub is_new: bool,
    /// The device id was not readable and was taken from the journal or a segment.
    pub is_identity_restored: bool,
    /// What was wrong with the journal.
    pub journal: JournalDamage,
    /// Points that were only in the journal.
    pub points_replayed: u64,
    /// Points of the journal that segments hold already.
    pub points_skipped: u64,
    /// Segments that are neither sealed nor fit to be gone on with: they are read by a scan.
    pub segments_damaged: u64,
    /// Unsealed segments whose first block is damaged: its copy in the next one serves.
    pub headers_restored: u64,
    /// Segments of other stores in a newer format, left alone.
    pub segments_unknown: u64,
    /// Blocks of those.
    pub unknown_blocks: u64,
    /// Segments whose names were listed, and that were not there any more when they were to be read.
    pub segments_gone: u64,
    /// Files that were moved to `quarantine/`, and why.
    pub set_aside: Vec<(String, SegmentError)>,
    /// Unfinished files that were removed.
    pub parts_removed: u64,
    /// Blocks of those among them that were to be segments, nearly always by a merge.
    pub part_blocks: u64,
}

impl<M: Medium> Store<M> {
    /// Opens the store on `medium`, or makes one there. `new_device` is used only where no device id is
    /// found: 16 random bytes.
    ///
    /// # Errors
    /// `Newer` where a newer program wrote into it: then nothing was changed. The medium. Damage is no error: see
    /// [`Recovery`].
    pub fn open(
        medium: M,
        config: StoreConfig,
        new_device: DeviceId,
    ) -> Result<(Self, Recovery), StoreError<M::Error>> {
        let look = Look::at(&medium)?;
        Self::open_seen(look, medium, config, new_device)
    }

    /// Opens the store of `device`, which was open before: nothing is made where it is not there any more.
    ///
    /// # Errors
    /// `NoStore` or `OtherStore`, and nothing was changed; as [`Store::open`].
    pub fn open_again(
        medium: M,
        config: StoreConfig,
        device: DeviceId,
    ) -> Result<(Self, Recovery), StoreError<M::Error>> {
        let look = Look::at(&medium)?;
        match look.device {
            Some(found) if found == device => Self::open_seen(look, medium, config, device),
            Some(_) => Err(StoreError::OtherStore),
            None => Err(StoreError::NoStore),
        }
    }

    /// Opens what was looked at.
    fn open_seen(
        look: Look,
        mut medium: M,
        config: StoreConfig,
        new_device: DeviceId,
    ) -> Result<(Self, Recovery), StoreError<M::Error>> {
        let mut recovery = Recovery::default();
        let device = look.tidy(&mut medium, new_device, &mut recovery)?;
        let mut segments = look.segments;
        let found = Found::find(&medium, &device)?;
        let epochs = segments.iter().map(|file| file.header.id).filter(|id| id.device == device);
        let epoch = epochs.map(|id| id.epoch).max().unwrap_or(0).max(found.epoch_max()).saturating_add(1);
        let own = segments.iter().filter(|file| file.header.id.device == device);
        let covered = own.map(|file| file.header.covered_lsn).max().unwrap_or(0);
        let base = found.lsn_above().max(covered.saturating_add(1));
        let journal = found.begin(&mut medium, config.journal(), epoch, base)?;
        let ranks = segments.iter().map(|file| file.header.rank.saturating_add(1));
        let checkpoint_rank = found.checkpoint().map_or(0, |(_, checkpoint)| checkpoint.rank);
        let next_rank = ranks.max().unwrap_or(0).max(checkpoint_rank).max(1);
        // Their rows are in others, whose ranks and journal positions are at least theirs.
        let superseded = take_superseded(&mut segments);
        let mut store = Self {
            medium,
            config,
            device,
            epoch,
            journal,
            table: SeriesTable::default(),
            window: Window::default(),
            segments,
            open: Vec::new(),
            late: LatePoints::default(),
            strays: BTreeMap::new(),
            next_number: 1,
            next_rank,
            points: 0,
            is_failed: false,
            now_ns: None,
            is_time_exact: false,
            chores: Chores::new(superseded),
            written: found.checkpoint().map(|(_, checkpoint)| checkpoint.written).unwrap_or_default(),
            meter: found.checkpoint().and_then(|(_, checkpoint)| checkpoint.meter),
        };
        // What was written for nothing is a part of what merges may write: else a store that is killed in each of
        // them would begin them for ever.
        store.written.merges += recovery.part_blocks;
        store.chores.foreign_blocks = recovery.unknown_blocks;
        if let Some((_, checkpoint)) = found.checkpoint() {
            let number =
                |open: &journal::OpenSegment| SegmentNumber { epoch: open.epoch, number: open.number };
            let open = checkpoint.open.iter().map(number).collect();
            store.chores.protected = Protected { rank: checkpoint.rank, open };
            store.chores.aged = checkpoint.aged;
            // Before anything needs room.
            store.expire_unhindered()?;
        }
        store.resume(&found, &mut recovery)?;
        store.replay(&found, &mut recovery)?;
        store.checkpoint_now(false)?;
        store.keep_quota()?;
        Ok((store, recovery))
    }

    /// Takes up the segments that were open.
    fn resume(
        &mut self,
        found: &Found<M::Device>,
        recovery: &mut Recovery,
    ) -> Result<(), StoreError<M::Error>> {
        let unsealed = |file: &mut SegmentFile| matches!(file.state, SegmentState::Unsealed);
        let files: Vec<SegmentFile> = self.segments.extract_if(.., unsealed).collect();
        let mut resumed_segments = Vec::new();
        for mut file in files {
            let Some(trusted) = trusted_blocks(&file, self.device, found) else {
                recovery.segments_damaged += 1;
                self.segments.push(file);
                continue;
            };
            let Some(device) = self.medium.open(&file.path)? else {
                recovery.segments_gone += 1;
                continue;
            };
            let scanned = scan(&device, file.header, file.block_count, Some(trusted))?;
            let is_whole = scanned.faults.is_empty();
            let resumed = if is_whole { Writer::resume(scanned, self.epoch).ok() } else { None };
            let Some(writer) = resumed else {
                // Only what was flushed counts of it; what came later is in the journal and goes into a
                // new segment.
                recovery.segments_damaged += 1;
                file.block_count = file.block_count.min(trusted);
                self.segments.push(file);
                continue;
            };
            let grow = self.config.segment_grow_blocks;
            resumed_segments.push(OpenSegment::resume(
                file,
                writer,
                device,
                trusted,
                grow,
                &mut self.written,
            )?);
        }
        resumed_segments.into_iter().try_for_each(|segment| self.take_up(segment))
    }

    /// Opens the partition of a resumed segment, or seals it where another one is open there.
    fn take_up(&mut self, mut segment: OpenSegment<M::Device>) -> Result<(), StoreError<M::Error>> {
        let range = segment.file.header.partition;
        let partition = Partition::of(self.config.partition, range.begin);
        let is_open = self.open.iter().any(|open| open.partition == partition);
        if is_open || partition.range != range {
            let sealed = segment.seal(&mut self.written)?;
            self.segments.push(sealed);
            // A partition that is open already was opened before this segment's ends were known.
            if let Some(place) = self.open.iter().position(|open| open.partition.range.overlaps(range)) {
                let open = self.open.swap_remove(place);
                self.reopen(open.partition, open.segment)?;
            }
            return Ok(());
        }
        self.reopen(partition, Some(segment))
    }

    fn reopen(
        &mut self,
        partition: Partition,
        segment: Option<OpenSegment<M::Device>>,
    ) -> Result<(), StoreError<M::Error>> {
        self.open_partition(partition)?;
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        if let Some(segment) = &segment {
            raise_to(&mut open.heads, &segment.writer, &mut self.table)?;
        }
        open.segment = segment;
        Ok(())
    }

    /// Takes what is only in the journal.
    fn replay(
        &mut self,
        found: &Found<M::Device>,
        recovery: &mut Recovery,
    ) -> Result<(), StoreError<M::Error>> {
        self.window.widen(self.config.unacknowledged_max);
        if let Some((_, checkpoint)) = found.checkpoint() {
            self.window.widen(usize::try_from(checkpoint.window).unwrap_or(usize::MAX));
        }
        let mut replay = Replay::new(self)?;
        recovery.journal = found.replay(&mut replay)?;
        (recovery.points_replayed, recovery.points_skipped) = replay.counts();
        if recovery.journal.is_incomplete() || self.is_late_beyond_heads()? {
            // Where points in order are missing, a late one may lie beyond the head it was measured
            // by, and where it was ahead of its time it does: whatever comes in order from here on must rank above
            // it, so in a new segment.
            self.seal_open()?;
        }
        while self.open.len() > OPEN_PARTITIONS_MAX {
            let idlest = (0..self.open.len()).min_by_key(|at| self.open[*at].used_at);
            self.close_partition(idlest.unwrap_or(0))?;
        }
        Ok(())
    }
}

impl<M: Medium> Store<M> {
    /// Whether a segment that ranks above an open one of its partition ends behind the head of a series.
    fn is_late_beyond_heads(&mut self) -> Result<bool, StoreError<M::Error>> {
        for open in &self.open {
            let Some(segment) = &open.segment else { continue };
            let (rank, range) = (segment.file.header.rank, open.partition.range);
            let above = self.segments.iter().filter(|file| {
                let header = &file.header;
                let is_data = header.kind != SegmentKind::Tombstones && header.id.device == self.device;
                is_data && header.rank > rank && header.partition.overlaps(range)
            });
            for file in above {
                let Some(device) = self.medium.open(&file.path)? else { continue };
                let is_beyond = |(name, _, _, last): &LastTime| {
                    let head = self.table.live().find(name.as_str()).and_then(|series| open.heads.at(series));
                    range.contains(*last) && head.is_none_or(|head| head < *last)
                };
                if file.last_times(&device)?.iter().any(is_beyond) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Raises heads to the last rows of an open segment.
pub(super) fn raise_to<E>(
    heads: &mut Heads,
    writer: &Writer,
    table: &mut SeriesTable,
) -> Result<(), StoreError<E>> {
    for (_, name, kind, unit, span) in writer.series_with_rows() {
        let Ok(name) = SeriesName::parse(name) else { continue };
        let series = table.add(&name, kind, unit).map_err(|_| StoreError::TooManySeries)?;
        heads.raise(series, span.end.saturating_sub(1));
    }
    Ok(())
}

/// How many blocks of an unsealed segment were flushed; `None` where it is not one to go on with.
fn trusted_blocks<D: super::device::Device>(
    file: &SegmentFile,
    device: DeviceId,
    found: &Found<D>,
) -> Option<u32> {
    let (_, checkpoint) = found.checkpoint()?;
    let id = file.header.id;
    if id.device != device || !file.is_in_order() {
        return None;
    }
    let named = checkpoint.open.iter().find(|open| (open.epoch, open.number) == (id.epoch, id.number));
    match named {
        Some(open) => Some(open.block_count),
        // Begun after the checkpoint: its header is flushed, and the rest is in the journal.
        None => (file.header.rank >= checkpoint.rank).then_some(1),
    }
}
