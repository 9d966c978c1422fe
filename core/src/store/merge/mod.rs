//! Merging: sealed segments that are neighbours in rank become one, and deleted rows go.
//!
//! Rows are judged one by one: of equal times that of the highest rank counts, and a tombstone of a higher
//! rank hides what it names. So the result holds exactly what a question would have seen. A merge goes on in
//! small steps and touches no file but its own; what makes it count, and what becomes of its inputs, is the
//! store's (`work`). Why so: `docs/decisions/0010-merging.md`.
//!
//! | file | idea |
//! | --- | --- |
//! | `choose` | which segments are worth merging, within the budget |
//! | `input` | a segment that is read: its series, page by page, and its blocks |
//! | `series_rows` | the rows of one series in one input, in the order of time |
//! | `tombstones` | which spans of a series are hidden from a rank |
//! | `job` | a merge in progress |
//! | `proof` | its end: sealed, flushed, read back |

mod choose;
mod input;
mod job;
mod proof;
mod series_rows;
mod tombstones;

pub(super) use choose::{Budget, Candidate, choose};
pub(super) use job::{Merge, Progress};
pub(super) use proof::Proven;
pub(super) use tombstones::Tombstone;
