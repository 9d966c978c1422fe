//! CSV sheets: readings in columns, in and out.
//!
//! The head is `timestamp_s`, `timestamp_ms`, `timestamp_us` or `timestamp_ns`, then one column a
//! series; an empty cell is no reading. What is written can be read back to the last bit.
//!
//! | file | idea |
//! | --- | --- |
//! | `cell` | one cell to a value and back |
//! | `head` | the head line: unit of time, names of series |
//! | `read` | rows of a file, plain or gzip |
//! | `write` | rows of a sheet |

mod cell;
mod head;
mod read;
mod write;

pub use cell::{read_cell, write_cell};
pub use head::{ColumnRules, TimeUnit};
pub use read::{Row, SheetError, SheetReader};
pub use write::SheetWriter;
