//! The store: journal and segments in one directory, and what is left of them after a power cut.
//!
//! Everything here is pure over two small traits, [`Device`] and [`Medium`]: the agent gives files,
//! the tests give a simulated medium that loses power. The commit protocol as a list of cases is
//! `docs/recovery.md`; the bytes are `docs/format-journal.md`.
//!
//! | file | idea |
//! | --- | --- |
//! | `device` | the two traits, what a medium must promise and what a power cut may leave |
//! | `sim` | a simulated medium and the oracle, for tests |

mod device;
#[cfg(any(test, feature = "sim"))]
pub mod sim;

pub use device::{Device, Entry, EntryKind, Medium};
