//! A shelf: block files side by side, asked as one.
//!
//! The driver of core's queries. Core says which blocks it needs; here they are fetched from files,
//! from addresses, or from what a running store holds in memory. Sealed files are opened by their
//! two ends, files without a usable footer are scanned, and what is damaged costs itself only and is
//! reported.
//!
//! | file | idea |
//! | --- | --- |
//! | `source` | where blocks come from: a file |
//! | `url` | the same by address, with Range requests |
//! | `member` | one block file on the shelf |
//! | `selector` | selectors with the regular expressions in them |
//! | `ask` | a question to an answer |
//! | `merge` | the readings of several series in the order of time |
//! | `rows` | rows of core to cells |
//! | `cursor` | where the next page begins |

mod ask;
mod cursor;
mod member;
mod merge;
mod rows;
mod selector;
mod source;
mod url;

pub use ask::{Holding, Shelf};
pub use member::{Member, OpenError};
pub use merge::Merge;
pub use selector::ParsedSelector;
pub use source::{BlockSource, FileSource};
pub use url::UrlSource;
