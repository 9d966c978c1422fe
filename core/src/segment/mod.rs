//! A segment: one block file, from its header to its footer. `docs/format.md`.
//!
//! Writers hand out finished blocks with their addresses, readers look at blocks that somebody else
//! fetched: no I/O here. A segment is readable alone, sealed or not.
//!
//! | file | idea |
//! | --- | --- |
//! | `header`, `footer`, `definition` | blocks that say what a segment is and what it holds |
//! | `rows`, `open_series` | points that wait for their leaf |
//! | `extent`, `waiting` | inner nodes while the segment is open, and references that wait for theirs |
//! | `log` | the reference log |
//! | `writer`, `units`, `seal`, `shared_nodes` | points to blocks |
//! | `lean`, `lean_out` | points to blocks without a heap |
//! | `tail`, `roots`, `supersedes`, `heads` | the byte stream behind the nodes |
//! | `blocks` | blocks at hand, and those that are needed |
//! | `reader` | a sealed segment |
//! | `scan` | one without a footer |
//! | `view` | one that is being written |
//! | `unsealed` | what was scanned, or is being written, as questions see it |
//! | `opening`, `opened` | any of them: how it is opened, and how it is asked |
//! | `check` | whether a segment is whole: what `verify` and the scrub ask |
//! | `salvage`, `salvage_report` | a good copy of what is left of a damaged one |
//! | `error` | what can be wrong |

#[cfg(feature = "alloc")]
mod blocks;
#[cfg(feature = "alloc")]
mod check;
mod definition;
mod error;
#[cfg(feature = "alloc")]
mod extent;
mod footer;
mod header;
#[cfg(feature = "alloc")]
mod heads;
mod lean;
mod lean_out;
#[cfg(feature = "alloc")]
mod log;
#[cfg(feature = "alloc")]
mod open_series;
#[cfg(feature = "alloc")]
mod opened;
#[cfg(feature = "alloc")]
mod opening;
#[cfg(feature = "alloc")]
mod reader;
#[cfg(feature = "alloc")]
mod roots;
#[cfg(feature = "alloc")]
mod rows;
#[cfg(feature = "alloc")]
mod salvage;
#[cfg(feature = "alloc")]
mod salvage_report;
#[cfg(feature = "alloc")]
mod scan;
#[cfg(feature = "alloc")]
mod seal;
#[cfg(feature = "alloc")]
mod shared_nodes;
#[cfg(feature = "alloc")]
mod supersedes;
#[cfg(feature = "alloc")]
mod tail;
#[cfg(feature = "alloc")]
mod units;
#[cfg(feature = "alloc")]
mod unsealed;
#[cfg(feature = "alloc")]
mod view;
#[cfg(feature = "alloc")]
mod waiting;
#[cfg(feature = "alloc")]
mod writer;

#[cfg(all(test, feature = "alloc"))]
pub(in crate::segment) mod tests;

#[cfg(feature = "alloc")]
pub use blocks::{Answer, BlockMap, Blocks};
#[cfg(feature = "alloc")]
pub use check::{CHUNKS_MAX, Check, CheckReport, CheckStep, Fault, What};
pub use definition::{Definition, STATE_LEN_MAX, UNIT_LEN_MAX};
pub use error::{AppendError, SegmentError};
pub use footer::{Footer, Section, SectionKind};
pub use header::{FORMAT_VERSION, MAGIC, SegmentHeader, SegmentKind};
#[cfg(feature = "alloc")]
pub use heads::{Carried, CarriedHead, HeadsSection, SealedNumber};
pub use lean::{LeanError, LeanWriter};
#[cfg(feature = "alloc")]
pub use opened::Opened;
#[cfg(feature = "alloc")]
pub use opening::Opening;
#[cfg(feature = "alloc")]
pub use reader::{Rooted, Sealed, Suggest};
#[cfg(feature = "alloc")]
pub use salvage::{Salvage, SalvageStep};
#[cfg(feature = "alloc")]
pub use salvage_report::{Loss, SalvageReport};
#[cfg(feature = "alloc")]
pub use scan::{Scan, ScanStep, Scanned};
#[cfg(feature = "alloc")]
pub use supersedes::{SegmentNumber, Supersedes};
#[cfg(feature = "alloc")]
pub(crate) use units::Units;
#[cfg(feature = "alloc")]
pub use unsealed::{SegmentSeries, Unsealed};
#[cfg(feature = "alloc")]
pub use view::View;
#[cfg(feature = "alloc")]
pub use writer::{Appended, FinishedBlock, Writer};
