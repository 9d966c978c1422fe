//! The journal: the ring of files that makes a point durable before it is acknowledged.
//!
//! Points are appended to blocks in memory, many messages share one flush, and after a crash the
//! valid blocks are read back in the order of their LSNs. Bytes: `docs/format-journal.md`. The
//! journal does not know what a segment is: it is told when a checkpoint holds.
//!
//! | file | idea |
//! | --- | --- |
//! | `header` | block 0 of a journal file |
//! | `entry`, `value` | series, identities, checkpoints and points as bytes; their values |
//! | `record` | one block being filled with entries |
//! | `writer` | messages into records, records into the active file, flush, next file |
//! | `scan` | which blocks of a file are valid, and what they say of each other |
//! | `ring` | the files: found at start, made, chosen for the next round |
//! | `check` | whether the files are whole |
//! | `replay` | the points and identities that count after a crash |

mod check;
mod entry;
mod header;
mod record;
mod replay;
mod ring;
mod scan;
mod value;
mod writer;

pub use check::{Flushed, JournalCheck};
pub(super) use entry::{Checkpoint, OpenSegment};
pub(super) use header::{MAGIC, VERSION};
#[cfg(test)]
pub(super) use record::points_of;
pub(super) use replay::Visitor;
pub use ring::JournalDamage;
pub(super) use ring::{DIRECTORY, Found, JournalConfig, stated};
pub(super) use writer::{Journal, JournalPoint, Names, PutError};

#[cfg(test)]
mod tests;
