//! Why bytes are no reference table; a value without text of its own, so that nothing is allocated.

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
