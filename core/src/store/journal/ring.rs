//! The files of the journal: found at start, made where missing, chosen for the next round.
//!
//! A file is *needed* while recovery would read something in it that is nowhere else. Of those not
//! needed the one with the lowest LSNs is overwritten next, so that the epochs of interrupted
//! recoveries stay readable in the others.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::entry::Checkpoint;
use super::header;
use super::scan::{FileScan, glimpse, open_block, scan};
use super::writer::Journal;
use crate::block::{BLOCK_LEN, DeviceId, peek};
use crate::store::bad_block::read_block;
use crate::store::device::{Device, EntryKind, Medium};
use crate::store::limits::{JOURNAL_BLOCKS_MIN, JOURNAL_FILES_MAX, JOURNAL_FILES_MIN};
use crate::store::version::Newer;

/// The journal's directory.
pub(in crate::store) const DIRECTORY: &str = "journal";
/// Blocks of zeros written at once.
const ZERO_BLOCKS: u32 = 64;

/// How large the journal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct JournalConfig {
    pub(in crate::store) files: u32,
    pub(in crate::store) file_blocks: u32,
}

impl JournalConfig {
    /// The nearest sizes that are allowed.
    pub(in crate::store) fn bounded(self) -> Self {
        Self {
            files: self.files.clamp(JOURNAL_FILES_MIN, JOURNAL_FILES_MAX),
            file_blocks: self.file_blocks.max(JOURNAL_BLOCKS_MIN),
        }
    }
}

/// What was wrong with the journal at a start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalDamage {
    /// Records that had been flushed and can't be read any more.
    pub records_damaged: u64,
    /// Places where unflushed records are missing before others: the mark of a power cut.
    pub tears: u64,
    /// Messages cut short by the end of the journal; they were never acknowledged.
    pub messages_unfinished: u64,
    /// Points whose series was defined in a record that is damaged.
    pub points_nameless: u64,
    /// Whether something that can't be read stands behind the last record: the mark of a power cut, or what
    /// is left of a record that had been flushed last of all.
    pub is_end_unreadable: bool,
}

impl JournalDamage {
    /// Whether something is missing before something that is there.
    pub(in crate::store) fn is_incomplete(&self) -> bool {
        *self != Self { is_end_unreadable: self.is_end_unreadable, ..Self::default() }
    }
}

/// A file of the ring.
#[derive(Debug)]
pub(super) struct RingFile<D> {
    pub(super) number: u32,
    pub(super) device: D,
    pub(super) block_count: u32,
    /// One more than the highest LSN in it.
    pub(super) lsn_end: u64,
    pub(super) is_needed: bool,
}

/// A file and what it holds.
#[derive(Debug)]
pub(super) struct FoundFile<D> {
    pub(super) number: u32,
    pub(super) device: D,
    pub(super) block_count: u32,
    pub(super) scan: FileScan,
}

/// The journal as it was found.
#[derive(Debug)]
pub(in crate::store) struct Found<D> {
    pub(super) files: Vec<FoundFile<D>>,
    pub(super) device: DeviceId,
}

/// The path of file `number`.
pub(super) fn path(number: u32) -> String {
    format!("{DIRECTORY}/{number:02}.journal")
}

fn numbers<M: Medium>(medium: &M) -> Result<Vec<u32>, M::Error> {
    let number = |name: &str| -> Option<u32> {
        let digits = name.strip_suffix(".journal")?;
        let number = digits.parse().ok()?;
        (format!("{number:02}") == digits && number < JOURNAL_FILES_MAX).then_some(number)
    };
    let entries = medium.list(DIRECTORY)?;
    let mut numbers: Vec<u32> =
        entries.iter().filter(|e| e.kind == EntryKind::File).filter_map(|e| number(&e.name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// What the headers of the journal's files say.
#[derive(Debug, Default)]
pub(in crate::store) struct Stated {
    /// The device id that they name.
    pub(in crate::store) device: Option<DeviceId>,
    /// The first one that is of a newer version.
    pub(in crate::store) newer: Option<(String, Newer)>,
}

/// Reads the headers, for a store whose `store.id` can't be read, or that may be a newer program's.
///
/// # Errors
/// What the medium says.
pub(in crate::store) fn stated<M: Medium>(medium: &M) -> Result<Stated, M::Error> {
    let mut stated = Stated::default();
    let mut bytes = vec![0; BLOCK_LEN];
    for number in numbers(medium)? {
        let path = path(number);
        let Some(device) = medium.open(&path)? else { continue };
        read_block(&device, 0, &mut bytes)?;
        let named = peek(&bytes).ok().and_then(|(_, payload)| header::device_of(payload));
        let named = named.filter(|id| open_block(&bytes, number, 0, id).is_some());
        stated.device = stated.device.or(named);
        stated.newer = stated.newer.or_else(|| Newer::of(&bytes).map(|newer| (path, newer)));
    }
    Ok(stated)
}

impl<D: Device> Found<D> {
    /// Reads what journal there is. Of a file whose records all lie below a checkpoint that stands in another one only the
    /// first blocks are read: nothing in it counts any more.
    ///
    /// # Errors
    /// What the medium says; a bad block is damage, not an error.
    pub(in crate::store) fn find<M: Medium<Device = D, Error = D::Error>>(
        medium: &M,
        device: &DeviceId,
    ) -> Result<Self, D::Error> {
        let mut found = Self { files: Vec::new(), device: *device };
        for number in numbers(medium)? {
            let Some(file) = medium.open(&path(number))? else { continue };
            let block_count = file.block_count()?;
            let scan = glimpse(&file, block_count, number, device)?;
            found.files.push(FoundFile { number, device: file, block_count, scan: scan.unwrap_or_default() });
        }
        // From the newest on, those first that said nothing.
        found.files.sort_by_key(|file| (file.scan.epoch > 0, Reverse(file.scan.base)));
        let mut above = u64::MAX;
        for at in 0..found.files.len() {
            let checkpoint_lsn = found.checkpoint().map_or(0, |(lsn, _)| lsn);
            let file = &mut found.files[at];
            let is_glimpsed = file.scan.epoch > 0;
            if is_glimpsed && file.scan.lsn_end.min(above) <= checkpoint_lsn {
                file.scan.lsn_end = file.scan.lsn_end.min(above);
            } else {
                file.scan = scan(&file.device, file.block_count, file.number, device)?;
            }
            above = if is_glimpsed { file.scan.base } else { above };
        }
        found.files.sort_by_key(|file| file.number);
        Ok(found)
    }

    /// The highest epoch of any valid block; 0 where there is none.
    pub(in crate::store) fn epoch_max(&self) -> u32 {
        self.files.iter().map(|file| file.scan.epoch_max).max().unwrap_or(0)
    }

    /// An LSN above every LSN that any block of these files had.
    pub(in crate::store) fn lsn_above(&self) -> u64 {
        // A block that can't be read now may have had a higher one, but not by more than all blocks.
        let blocks: u64 = self.files.iter().map(|file| u64::from(file.block_count)).sum();
        self.files.iter().map(|file| file.scan.lsn_end).max().unwrap_or(1).max(1).saturating_add(blocks)
    }

    /// The last checkpoint and its LSN.
    pub(in crate::store) fn checkpoint(&self) -> Option<(u64, &Checkpoint)> {
        let checkpoints = self.files.iter().filter_map(|file| file.scan.checkpoint.as_ref());
        checkpoints.max_by_key(|(lsn, _)| *lsn).map(|(lsn, checkpoint)| (*lsn, checkpoint))
    }

    /// The LSN below which some record of `epoch` says that everything is flushed.
    pub(super) fn flushed_in(&self, epoch: u32) -> u64 {
        let files = self.files.iter().filter(|file| file.scan.epoch == epoch);
        files.flat_map(|file| &file.scan.records).map(|record| record.flushed).max().unwrap_or(0)
    }

    /// Whether records of the same epoch stand in a later file.
    pub(super) fn is_followed(&self, at: usize) -> bool {
        let scan = &self.files[at].scan;
        self.files.iter().any(|other| {
            other.scan.epoch == scan.epoch && other.scan.base > scan.base && !other.scan.records.is_empty()
        })
    }

    /// The LSN at which the next file of the same epoch begins.
    pub(super) fn next_base(&self, at: usize) -> Option<u64> {
        let scan = &self.files[at].scan;
        let bases =
            self.files.iter().filter(|other| other.scan.epoch == scan.epoch).map(|other| other.scan.base);
        bases.filter(|base| *base > scan.base).min()
    }

    /// Begins `epoch` in a file that is not needed: its header is flushed when this returns.
    ///
    /// # Errors
    /// What the medium says.
    pub(in crate::store) fn begin<M: Medium<Device = D, Error = D::Error>>(
        &self,
        medium: &mut M,
        config: JournalConfig,
        epoch: u32,
        base: u64,
    ) -> Result<Journal<D>, D::Error> {
        let checkpoint_lsn = self.checkpoint().map_or(0, |(lsn, _)| lsn);
        let mut files = Vec::new();
        for file in &self.files {
            // A handle of its own: the replay goes on reading through the other one.
            let Some(device) = medium.open(&path(file.number))? else { continue };
            files.push(RingFile {
                number: file.number,
                device,
                block_count: file.block_count,
                lsn_end: file.scan.lsn_end,
                is_needed: file.scan.records.last().is_some_and(|last| last.lsn >= checkpoint_lsn),
            });
        }
        let mut ring = Ring { files, config: config.bounded(), device: self.device, blocks_written: 0 };
        let missing: Vec<u32> =
            (0..ring.config.files).filter(|number| ring.files.iter().all(|f| f.number != *number)).collect();
        for number in missing {
            let file = ring.make(medium, number)?;
            ring.files.push(file);
        }
        Journal::begin(ring, medium, epoch, base)
    }
}

/// The files of a journal that is being written.
#[derive(Debug)]
pub(super) struct Ring<D> {
    pub(super) files: Vec<RingFile<D>>,
    config: JournalConfig,
    pub(super) device: DeviceId,
    /// Blocks written since this start.
    pub(super) blocks_written: u64,
}

impl<D: Device> Ring<D> {
    /// Makes file `number` whole: full of zeros, flushed, named.
    fn make<M: Medium<Device = D, Error = D::Error>>(
        &mut self,
        medium: &mut M,
        number: u32,
    ) -> Result<RingFile<D>, D::Error> {
        let block_count = self.config.file_blocks;
        let path = path(number);
        let part = format!("{path}.part");
        let mut device = medium.create(&part)?;
        let zeros = vec![0; ZERO_BLOCKS.min(block_count) as usize * BLOCK_LEN];
        let mut first = 0;
        while first < block_count {
            let count = ZERO_BLOCKS.min(block_count - first);
            device.write(first, &zeros[..count as usize * BLOCK_LEN])?;
            first += count;
        }
        self.blocks_written += u64::from(block_count);
        device.flush()?;
        medium.rename(&part, &path)?;
        medium.sync_directory(DIRECTORY)?;
        Ok(RingFile { number, device, block_count, lsn_end: 0, is_needed: false })
    }

    /// The file to write next: any but `active` that is not needed, of the right size; its place in
    /// the list. The ring grows where all are needed.
    pub(super) fn choose<M: Medium<Device = D, Error = D::Error>>(
        &mut self,
        medium: &mut M,
        active: Option<usize>,
    ) -> Result<usize, D::Error> {
        let free = (0..self.files.len()).filter(|at| Some(*at) != active && !self.files[*at].is_needed);
        let Some(at) = free.min_by_key(|at| self.files[*at].lsn_end) else {
            let number = (0..).find(|n| self.files.iter().all(|f| f.number != *n)).unwrap_or(0);
            let file = self.make(medium, number)?;
            self.files.push(file);
            return Ok(self.files.len() - 1);
        };
        if self.files[at].block_count != self.config.file_blocks {
            self.files[at] = self.make(medium, self.files[at].number)?;
        }
        Ok(at)
    }
}
