//! The store: journal and segments in one directory, and what is left of them after a power cut.
//!
//! Everything here is pure over two small traits, [`Device`] and [`Medium`]: the agent gives files,
//! the tests give a simulated medium that loses power. The commit protocol as a list of cases is
//! `docs/recovery.md`; the bytes are `docs/format-journal.md`.
//!
//! | file | idea |
//! | --- | --- |
//! | `device` | the two traits, what a medium must promise and what a power cut may leave |
//! | `limits` | every limit of the store and its reason |
//! | `identity` | which messages are stored already, for those that come again |
//! | `journal` | what makes a point durable before it is acknowledged |
//! | `sim` | a simulated medium and the oracle, for tests |

mod device;
#[cfg_attr(not(test), expect(dead_code, reason = "its user is the store, which comes next"))]
mod identity;
#[cfg_attr(not(test), expect(dead_code, reason = "its user is the store, which comes next"))]
#[expect(unused_imports, reason = "its user is the store, which comes next")]
mod journal;
mod limits;
#[cfg(any(test, feature = "sim"))]
pub mod sim;

pub use device::{Device, Entry, EntryKind, Medium};
pub use identity::Identity;
pub use journal::JournalDamage;
pub use limits::{
    IDENTITIES_MAX, JOURNAL_BLOCKS_MIN, JOURNAL_FILES_MAX, JOURNAL_FILES_MIN, NAME_BYTES_MAX,
    STATE_BYTES_MAX, UNIT_BYTES_MAX,
};
