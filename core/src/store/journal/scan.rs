//! What one journal file holds after a start: its valid blocks, and what they say of each other.
//!
//! Blocks left over from an earlier round of the ring are valid too, but lie on another base; the run
//! with the highest LSN is the file's content. A bad block is as good as a damaged one.

use alloc::vec;
use alloc::vec::Vec;

use super::entry::{Before, Checkpoint, Entry};
use super::record::preamble;
use crate::block::{BLOCK_LEN, BlockHeader, BlockKind, DeviceId, SegmentId, open, peek};
use crate::store::bad_block::read_block;
use crate::store::device::Device;

/// Blocks read at once.
const READ_BLOCKS: u32 = 64;

/// A valid record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scanned {
    pub(super) block: u32,
    pub(super) lsn: u64,
    /// Everything below this LSN was flushed when the record was made.
    pub(super) flushed: u64,
    pub(super) continues: bool,
}

/// The content of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct FileScan {
    /// The epoch that began it; 0 where nothing in it is valid.
    pub(super) epoch: u32,
    /// LSN of block 0.
    pub(super) base: u64,
    /// The valid records in order.
    pub(super) records: Vec<Scanned>,
    /// The last checkpoint and its LSN.
    pub(super) checkpoint: Option<(u64, Checkpoint)>,
    /// The highest epoch of any valid block, stale ones included.
    pub(super) epoch_max: u32,
    /// One more than the highest LSN of any valid block.
    pub(super) lsn_end: u64,
    /// Blocks that hold something and are not valid.
    pub(super) unreadable: Vec<u32>,
}

/// Reads the blocks of a range and gives each of them, or `None` where it is bad.
///
/// # Errors
/// The medium.
pub(super) fn for_each_block<D: Device>(
    device: &D,
    blocks: core::ops::Range<u32>,
    mut each: impl FnMut(u32, Option<&[u8]>),
) -> Result<(), D::Error> {
    let mut buffer = vec![0; READ_BLOCKS.min(blocks.len() as u32) as usize * BLOCK_LEN];
    let mut first = blocks.start;
    while first < blocks.end {
        let count = READ_BLOCKS.min(blocks.end - first);
        let bytes = &mut buffer[..count as usize * BLOCK_LEN];
        let is_read = device.read(first, bytes).is_ok();
        for (block, bytes) in (first..).zip(bytes.chunks_exact_mut(BLOCK_LEN)) {
            let is_read = is_read || read_block(device, block, bytes)?;
            each(block, is_read.then_some(&*bytes));
        }
        first += count;
    }
    Ok(())
}

/// Opens block `block` of journal file `number`, whatever its epoch.
pub(super) fn open_block<'a>(
    bytes: &'a [u8],
    number: u32,
    block: u32,
    device: &DeviceId,
) -> Option<(BlockHeader, &'a [u8])> {
    let (found, _) = peek(bytes).ok()?;
    open(bytes, &SegmentId { device: *device, epoch: found.epoch, number }, block).ok()
}

/// What the first two blocks of file `number` say of it, where they agree: epoch and base, and nothing else.
/// A header of an earlier round, or one that nothing follows, says nothing.
///
/// # Errors
/// The medium.
pub(super) fn glimpse<D: Device>(
    device: &D,
    block_count: u32,
    number: u32,
    id: &DeviceId,
) -> Result<Option<FileScan>, D::Error> {
    let mut headers = Vec::new();
    for_each_block(device, 0..block_count.min(2), |block, bytes| {
        let opened = bytes.and_then(|bytes| open_block(bytes, number, block, id));
        headers.extend(opened.map(|(header, _)| header));
    })?;
    let [first, second] = headers.as_slice() else { return Ok(None) };
    let agree = first.kind == BlockKind::JournalHeader
        && second.kind == BlockKind::JournalRecord
        && second.epoch == first.epoch
        && Some(second.lsn) == first.lsn.checked_add(1);
    let (epoch, base) = (first.epoch, first.lsn);
    let lsn_end = base.saturating_add(u64::from(block_count));
    Ok(agree.then(|| FileScan { epoch, base, epoch_max: epoch, lsn_end, ..FileScan::default() }))
}

/// Reads all of file `number`.
///
/// # Errors
/// The medium.
pub(super) fn scan<D: Device>(
    device: &D,
    block_count: u32,
    number: u32,
    id: &DeviceId,
) -> Result<FileScan, D::Error> {
    let mut found = FileScan::default();
    let mut valid: Vec<(u32, Scanned)> = Vec::new();
    let mut checkpoints = Vec::new();
    for_each_block(device, 0..block_count, |block, bytes| {
        let Some((header, payload)) = bytes.and_then(|b| open_block(b, number, block, id)) else {
            if bytes.is_none_or(|bytes| bytes.iter().any(|byte| *byte > 0)) {
                found.unreadable.push(block);
            }
            return;
        };
        let Some(base) = header.lsn.checked_sub(u64::from(block)) else { return };
        let mut record = Scanned { block, lsn: header.lsn, flushed: 0, continues: false };
        match header.kind {
            BlockKind::JournalHeader if block == 0 => {}
            BlockKind::JournalRecord if block > 0 => {
                let Some((says, mut cursor)) = preamble(payload) else { return };
                record.flushed = header.lsn.saturating_sub(says.unflushed);
                record.continues = says.continues;
                if let Ok(Entry::Checkpoint(checkpoint)) = Entry::decode(&mut cursor, &mut Before::default())
                {
                    checkpoints.push((header.lsn, checkpoint));
                }
            }
            _ => return,
        }
        found.epoch_max = found.epoch_max.max(header.epoch);
        if header.lsn >= found.lsn_end {
            (found.epoch, found.base) = (header.epoch, base);
            found.lsn_end = header.lsn.saturating_add(1);
        }
        valid.push((header.epoch, record));
    })?;
    let is_of_run = |lsn: u64, block: u32| lsn == found.base.saturating_add(u64::from(block));
    found.records = valid
        .into_iter()
        .filter(|(epoch, r)| r.block > 0 && *epoch == found.epoch && is_of_run(r.lsn, r.block))
        .map(|(_, record)| record)
        .collect();
    found.checkpoint =
        checkpoints.into_iter().rfind(|(lsn, _)| found.records.iter().any(|record| record.lsn == *lsn));
    Ok(found)
}
