//! The reference table: references stored column by column, as inner nodes, reference logs and the
//! roots section hold them.
//!
//! Firsts, lasts, minima and maxima lie on the same grid as the readings and close to each other, so that
//! differences take a few bits where plain records take 124 bytes. Columns and flags: `docs/format.md`,
//! chapter 8. [`encode`] needs no heap, only a scratch column; [`decode`] gives a vector. Neither knows
//! what holds the table. Resets of gauges are dropped here (`Numbers::trimmed`).

mod columns;
#[cfg(feature = "alloc")]
mod decode;
mod encode;

#[cfg(feature = "alloc")]
pub use decode::decode;
pub use encode::{encode, encoded_len};

/// The most references of one table.
pub const TABLE_MAX: usize = 4_096;

/// Why bytes are no reference table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// The bytes end before the table does.
    Truncated,
    /// A number of references or levels beyond the limits.
    Limit,
    /// Flags of the future, or a unit of zero.
    Flags,
    /// A packed column that no writer makes.
    Column,
    /// A value that can't be: a form beyond the grids, a count below zero, an end before its begin.
    Value,
}

impl core::fmt::Display for TableError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Truncated => "reference table cut short",
            Self::Limit => "reference table beyond its limits",
            Self::Flags => "reference table with unknown flags",
            Self::Column => "impossible column in a reference table",
            Self::Value => "impossible value in a reference table",
        })
    }
}

impl core::error::Error for TableError {}

impl From<crate::block::Truncated> for TableError {
    fn from(_: crate::block::Truncated) -> Self {
        Self::Truncated
    }
}
