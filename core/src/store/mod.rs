//! The store: journal and segments in one directory, and what is left of them after a power cut.
//!
//! Everything here is pure over two small traits, [`Device`] and [`Medium`]: the agent gives files,
//! the tests give a simulated medium that loses power. The commit protocol as a list of cases is
//! `docs/recovery.md`; the bytes are `docs/format-journal.md`.
//!
//! | file | idea |
//! | --- | --- |
//! | `device` | the two traits, what a medium must promise and what a power cut may leave |
//! | `bad_block` | reading where the medium may fail: an error is not damage |
//! | `limits`, `config`, `error` | every limit and its reason; what can be chosen; what is refused |
//! | `partition` | calendar spans in UTC |
//! | `identity` | which messages are stored already, for those that come again |
//! | `series_table`, `owned_value` | the series of a running store; a value that is kept |
//! | `journal` | what makes a point durable before it is acknowledged |
//! | `head`, `late` | which points are in order; those that are not and wait for a checkpoint |
//! | `segment_file`, `open_segment` | segment files as they are found, and as they are written |
//! | `running` | a store, and a message on its way through it |
//! | `open_partition`, `carried` | which partitions take points in order; where their series end, and how segments say it |
//! | `time`, `expire`, `room` | what trusted time decides; dropping what is too old or too much; what files take |
//! | `checkpoint`, `sealing` | from the journal into segments; sealing |
//! | `store_id`, `version`, `look` | whose store it is, and whether this program may open it; nothing is written before |
//! | `recover`, `replay` | opening it whatever happened before |
//! | `delete`, `merge`, `work` | tombstones; neighbours in rank made one; what is done in idle time |
//! | `waste` | where questions waste reads |
//! | `written` | blocks written, by cause |
//! | `snapshot` | what a question sees |
//! | `sim` | a simulated medium and the oracle, for tests |

mod bad_block;
mod carried;
mod checkpoint;
mod config;
mod delete;
mod device;
mod error;
mod expire;
mod head;
mod identity;
mod journal;
mod late;
mod limits;
mod look;
mod merge;
mod open_partition;
mod open_segment;
mod owned_value;
mod partition;
mod recover;
mod replay;
mod room;
mod running;
mod sealing;
mod segment_file;
mod series_table;
#[cfg(any(test, feature = "sim"))]
pub mod sim;
mod snapshot;
mod store_id;
mod time;
mod version;
mod waste;
mod work;
mod written;

#[cfg(test)]
mod tests;

pub use config::StoreConfig;
pub use device::{Device, Entry, EntryKind, Medium};
pub use error::StoreError;
pub use identity::{HASH_LEN, Identity};
pub use journal::{Flushed, JournalCheck, JournalDamage};
pub use limits::{
    IDENTITIES_MAX, JOURNAL_BLOCKS_MIN, JOURNAL_FILES_MAX, JOURNAL_FILES_MIN, NAME_BYTES_MAX,
    STATE_BYTES_MAX, UNIT_BYTES_MAX,
};
pub use look::look_at;
pub use owned_value::OwnedValue;
pub use partition::{Partition, PartitionSpan};
pub use recover::Recovery;
pub use running::{Appended, Reading, Store};
pub use segment_file::{SegmentFile, SegmentState, file_name};
pub use series_table::SeriesId;
pub use snapshot::{Run, RunContent};
pub use store_id::{device_of_store, name_store};
pub use time::TrustedTime;
pub use work::Work;
pub use written::{Meter, Written};
