//! A shelf: block files side by side, asked as one.
//!
//! The driver of core's library and queries. Core says which blocks it needs; here they are fetched from
//! files, from addresses, or from what a running store holds in memory. What is damaged costs itself
//! only and is reported.
//!
//! | file | idea |
//! | --- | --- |
//! | `source` | where blocks come from: a file |
//! | `url` | the same by address, with Range requests |
//! | `directory` | the block files below a directory |
//! | `member` | one block file, opened or scanned |
//! | `supply` | the files, and core's library fed from them |
//! | `ask` | a question to an answer; several series in the order of time |
//! | `selector` | selectors with the regular expressions in them |
//! | `rows` | rows of core to cells |
//! | `cursor` | where the next page begins |

mod ask;
mod cursor;
mod directory;
mod member;
mod rows;
mod selector;
mod source;
mod supply;
mod url;

pub use directory::block_files;
pub use member::{Member, OpenError};
pub use selector::ParsedSelector;
pub use source::{BlockSource, FileSource};
pub use supply::Shelf;
pub use url::UrlSource;
