//! The reference log: summaries of the chunks written, put out a block at a time, so that an unsealed
//! segment is read again without decoding it all. `docs/format.md`, chapter 10.

use crate::block::{Block, Cursor, HEADER_LEN, PAYLOAD_MAX};
use crate::tree::{Reference, TableError, table};
use alloc::vec;
use alloc::vec::Vec;

/// Chunks with fewer rows are not logged: decoding them costs as little as reading the log.
pub(super) const LOGGED_ROWS_MIN: u64 = 64;
/// How many references come in before it is asked again whether they fill a block.
const CHECK_EVERY: usize = 16;
/// The previous log's block number stands before the table.
const PREFIX_LEN: usize = 4;

/// References that wait for their block.
#[derive(Debug)]
pub(super) struct ReferenceLog {
    previous: u32,
    waiting: Vec<Reference>,
    check_at: usize,
}

impl ReferenceLog {
    pub(super) fn new() -> Self {
        Self { previous: 0, waiting: Vec::new(), check_at: CHECK_EVERY }
    }

    /// Goes on behind the log in block `previous`; `waiting` was written since.
    pub(super) fn resume(&mut self, previous: u32, waiting: Vec<Reference>) {
        self.previous = previous;
        self.waiting = waiting;
    }

    pub(super) fn push(&mut self, reference: Reference) {
        if reference.summary.rows() >= LOGGED_ROWS_MIN {
            self.waiting.push(reference);
        }
    }

    /// Writes a log into `block`, to be block `number`, where the references no longer fit one.
    pub(super) fn take_full(&mut self, block: &mut Block, number: u32) -> Option<u16> {
        if self.waiting.len() < self.check_at {
            return None;
        }
        self.check_at = self.waiting.len() + CHECK_EVERY;
        let mut scratch = vec![0; self.waiting.len()];
        let room = PAYLOAD_MAX - PREFIX_LEN;
        let mut count = self.waiting.len();
        let fits = |count: usize, scratch: &mut [i128]| {
            self.waiting
                .get(..count)
                .and_then(|some| table::encoded_len(some, true, scratch))
                .is_some_and(|len| len <= room)
        };
        if fits(count, &mut scratch) && count < table::TABLE_MAX {
            return None;
        }
        while count > 1 && !fits(count, &mut scratch) {
            count -= 1 + count / 16;
        }
        let payload = block.split_at_mut(HEADER_LEN).1;
        let (prefix, rest) = payload.split_at_mut(PREFIX_LEN);
        prefix.copy_from_slice(&self.previous.to_le_bytes());
        let len = table::encode(self.waiting.get(..count)?, true, &mut scratch, rest)?;
        self.waiting.drain(..count);
        self.previous = number;
        self.check_at = CHECK_EVERY.max(self.waiting.len() + 1);
        u16::try_from(PREFIX_LEN + len).ok()
    }
}

/// The references of a log block.
///
/// # Errors
/// Whatever makes the payload none.
pub(super) fn decode(payload: &[u8]) -> Result<Vec<Reference>, TableError> {
    let mut cursor = Cursor::new(payload);
    cursor.u32()?;
    let references = table::decode(&mut cursor, 0, 0)?;
    if cursor.rest().is_empty() { Ok(references) } else { Err(TableError::Limit) }
}
