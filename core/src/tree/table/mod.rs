//! The reference table: references stored column by column, as inner nodes, reference logs and the
//! roots section hold them.
//!
//! Firsts, lasts, minima and maxima lie on the same grid as the readings and close to each other, so that
//! differences take a few bits where plain records take 124 bytes. Columns and flags: `docs/format.md`,
//! chapter 8. [`encode()`] needs no heap, only a scratch column; [`decode()`] gives a vector. Neither knows
//! what holds the table. Resets of gauges are dropped here (`Numbers::trimmed`).

mod columns;
#[cfg(feature = "alloc")]
mod decode;
mod encode;
mod error;

#[cfg(feature = "alloc")]
pub use decode::decode;
pub use encode::{encode, encoded_len};
pub use error::TableError;

/// The most references of one table.
pub const TABLE_MAX: usize = 4_096;
