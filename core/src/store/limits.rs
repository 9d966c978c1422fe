//! The limits of the store, each with its reason.

use crate::block::PAYLOAD_MAX;

/// Bytes of a canonical series name.
pub const NAME_BYTES_MAX: usize = 2_048;
/// Bytes of a unit.
pub const UNIT_BYTES_MAX: usize = 255;
/// Bytes of the text of a state.
pub const STATE_BYTES_MAX: usize = 255;
/// Files of the journal's ring: one that is written, one that recovery still needs, and one that an
/// interrupted recovery may have begun.
pub const JOURNAL_FILES_MIN: u32 = 3;
/// Files of the journal's ring: two digits of its name.
pub const JOURNAL_FILES_MAX: u32 = 100;
/// Blocks of a journal file: a header, a checkpoint with its identities, and a message.
pub const JOURNAL_BLOCKS_MIN: u32 = 16;
/// Identities that a checkpoint carries forward: twice the largest window that MQTT 5 allows.
pub const IDENTITIES_MAX: usize = 131_072;

/// The largest entry of a record: a series definition with everything at its limit.
pub(super) const ENTRY_BYTES_MAX: usize = 1 + 5 + 1 + 2 + UNIT_BYTES_MAX + 2 + NAME_BYTES_MAX;
/// What a record holds besides entries, at most.
pub(super) const RECORD_OVERHEAD_MAX: usize = 10 + 1;
/// Bytes of entries that every record has room for, however badly they are cut.
pub(super) const RECORD_BYTES_SURE: usize = PAYLOAD_MAX - RECORD_OVERHEAD_MAX - ENTRY_BYTES_MAX;

/// Blocks of a mebibyte.
pub(super) const MEBIBYTE_BLOCKS: u32 = 256;
/// In-order segments that stay open: the current partition and the next.
pub(super) const OPEN_PARTITIONS_MAX: usize = 2;
/// Blocks of the smallest late segment: header, definitions, leaf, and a tail of two.
pub(super) const LATE_BLOCKS_MIN: usize = 5;
/// Points after which a partition that got none of them is idle: another may be opened in its place.
pub(super) const IDLE_POINTS: u64 = 1_024;
/// Late points behind the heads of a partition that are remembered one by one: what comes in order at their times
/// has to rank above them.
pub(super) const AHEAD_POINTS_MAX: usize = 4_096;
/// Late points after which a partition that is not open is opened in place of another: it is no stray.
pub(super) const STRAYS_MAX: u32 = 256;

const _: () = assert!(ENTRY_BYTES_MAX + RECORD_OVERHEAD_MAX < PAYLOAD_MAX / 4 * 3);
const _: () = assert!(STATE_BYTES_MAX + 32 < RECORD_BYTES_SURE);
