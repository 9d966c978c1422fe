//! What can be chosen about a store.

use super::journal::JournalConfig;
use super::limits::MEBIBYTE_BLOCKS;
use super::partition::PartitionSpan;
use crate::block::BLOCK_LEN;

/// The settings of a store. They may change from one start to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreConfig {
    /// The calendar span of a partition.
    pub partition: PartitionSpan,
    /// Files of the journal's ring.
    pub journal_files: u32,
    /// Blocks of a journal file.
    pub journal_file_blocks: u32,
    /// A segment of this many blocks is sealed and the next one begun.
    pub segment_blocks_max: u32,
    /// Segments grow by this many blocks at a time.
    pub segment_grow_blocks: u32,
    /// Late points wait in memory up to this many bytes.
    pub late_bytes_max: usize,
    /// So many neighbours of alike size are merged.
    pub merge_neighbours: usize,
    /// Merges may write this many percent of what ever came in.
    pub merge_percent: u64,
    /// Messages that may be stored and not acknowledged, for whatever reason: so many can come again, and
    /// twice as many are remembered.
    pub unacknowledged_max: usize,
    /// A partition is sealed this long after its end, nanoseconds of trusted time.
    pub grace_ns: i64,
    /// Points further ahead of trusted time than this go the late way, nanoseconds.
    pub max_ahead_ns: i64,
    /// Segments may have this many bytes together; the oldest go first.
    pub retention_bytes: Option<u64>,
    /// Segments go when their partition ended so long ago by trusted time, nanoseconds.
    pub retention_ns: Option<i64>,
    /// The longest time for which integrals hold a value, nanoseconds.
    pub max_hold_ns: i64,
    /// Name and version of the program, kept in the headers of segments.
    pub writer: &'static str,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self {
            partition: PartitionSpan::Month,
            journal_files: 4,
            journal_file_blocks: 16 * MEBIBYTE_BLOCKS,
            segment_blocks_max: 64 * MEBIBYTE_BLOCKS,
            segment_grow_blocks: 4 * MEBIBYTE_BLOCKS,
            late_bytes_max: 4 << 20,
            merge_neighbours: 4,
            merge_percent: 40,
            unacknowledged_max: 0,
            grace_ns: 600_000_000_000,
            max_ahead_ns: 600_000_000_000,
            retention_bytes: None,
            retention_ns: None,
            max_hold_ns: 3_600_000_000_000,
            writer: concat!("siltstone ", env!("CARGO_PKG_VERSION")),
        }
    }
}

impl StoreConfig {
    /// Bytes of the journal's ring, which are taken at the first start.
    pub fn journal_bytes(&self) -> u64 {
        let JournalConfig { files, file_blocks } = self.journal().bounded();
        u64::from(files) * u64::from(file_blocks) * BLOCK_LEN as u64
    }

    pub(super) fn journal(&self) -> JournalConfig {
        JournalConfig { files: self.journal_files, file_blocks: self.journal_file_blocks }
    }
}
