//! One record being filled: a block in memory that takes entries while they fit.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::entry::{Before, Entry, put_varint};
use crate::block::{BLOCK_LEN, Block, BlockHeader, BlockKind, Cursor, DeviceId, HEADER_LEN, seal};

/// Flag: the last message continues in the next record.
const CONTINUES: u8 = 1;

/// A record in the making.
#[derive(Debug)]
pub(super) struct Record {
    block: Box<Block>,
    end: usize,
    flags_at: usize,
    before: Before,
    scratch: Vec<u8>,
}

/// A place in a record to go back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    end: usize,
    before: Before,
}

impl Record {
    /// An empty record; [`Record::begin`] comes first.
    pub(super) fn new() -> Self {
        let block = Box::new([0; BLOCK_LEN]);
        Self { block, end: HEADER_LEN, flags_at: HEADER_LEN, before: Before::default(), scratch: Vec::new() }
    }

    /// Begins anew; `unflushed` as in the format.
    pub(super) fn begin(&mut self, unflushed: u64) {
        self.scratch.clear();
        put_varint(&mut self.scratch, unflushed);
        self.flags_at = HEADER_LEN + self.scratch.len();
        self.block[HEADER_LEN..self.flags_at].copy_from_slice(&self.scratch);
        self.block[self.flags_at] = 0;
        self.end = self.flags_at + 1;
        self.before = Before::default();
    }

    /// Whether there is no entry yet.
    pub(super) fn is_empty(&self) -> bool {
        self.end <= self.flags_at + 1
    }

    /// Where the record stands.
    pub(super) fn mark(&self) -> Mark {
        Mark { end: self.end, before: self.before }
    }

    /// Forgets what came after `mark`.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.end = mark.end;
        self.before = mark.before;
    }

    /// Appends an entry; false, and nothing changed, where it doesn't fit.
    pub(super) fn put(&mut self, entry: &Entry<'_>) -> bool {
        self.scratch.clear();
        let mut before = self.before;
        entry.encode(&mut before, &mut self.scratch);
        let end = self.end + self.scratch.len();
        if end > BLOCK_LEN {
            return false;
        }
        self.block[self.end..end].copy_from_slice(&self.scratch);
        self.end = end;
        self.before = before;
        true
    }

    /// The finished block. `at` gives number, epoch, block and LSN; the rest is filled in.
    pub(super) fn finish(&mut self, at: Place, continues: bool, device: &DeviceId) -> &Block {
        self.block[self.flags_at] = if continues { CONTINUES } else { 0 };
        let header = BlockHeader {
            kind: BlockKind::JournalRecord,
            flags: 0,
            payload_len: (self.end - HEADER_LEN) as u16,
            block: at.block,
            number: at.number,
            epoch: at.epoch,
            write_epoch: at.epoch,
            lsn: at.lsn,
        };
        seal(&mut self.block, &header, device);
        &self.block
    }
}

/// Where a record stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) number: u32,
    pub(super) epoch: u32,
    pub(super) block: u32,
    pub(super) lsn: u64,
}

/// What a record says before its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Preamble {
    pub(super) unflushed: u64,
    pub(super) continues: bool,
}

/// Splits a record's payload into preamble and entries; `None` where no writer made it.
pub(super) fn preamble(payload: &[u8]) -> Option<(Preamble, Cursor<'_>)> {
    let mut cursor = Cursor::new(payload);
    let unflushed = cursor.varint().ok()?;
    let flags = cursor.u8().ok()?;
    (flags & !CONTINUES == 0).then_some((Preamble { unflushed, continues: flags == CONTINUES }, cursor))
}

/// How many points a record holds, and whether its last message goes on in the next one.
#[cfg(test)]
pub(in crate::store) fn points_of(payload: &[u8]) -> (u64, bool) {
    let Some((says, mut cursor)) = preamble(payload) else { return (0, false) };
    let (mut before, mut points) = (Before::default(), 0);
    while let Ok(entry) = Entry::decode(&mut cursor, &mut before) {
        points += u64::from(matches!(entry, Entry::Point { .. }));
    }
    (points, says.continues)
}
