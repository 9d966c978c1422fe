//! What can be wrong with a stored catalog or index, and with what is put into one.

use core::fmt;

use crate::block::Truncated;

/// A catalog or index section that breaks its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexError {
    /// A field or a list ends before it should.
    Truncated,
    /// The parts named in the header are not those that are there.
    BadLayout,
    /// A key shares more than the key before it has, is too long, or does not rise.
    BadKey,
    /// A directory of groups that does not fit its groups.
    BadDirectory,
    /// A name in the catalog that is not canonical, or a text that is not UTF-8.
    BadName,
    /// A kind or a unit that can't be.
    BadEntry,
    /// A sketch table or a posting list that can't be.
    BadTable,
}

impl fmt::Display for IndexError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Truncated => "the section ends inside a field",
            Self::BadLayout => "the parts of the section don't fit its length",
            Self::BadKey => "a key of the dictionary is malformed",
            Self::BadDirectory => "the directory doesn't fit the groups",
            Self::BadName => "a name is not canonical",
            Self::BadEntry => "the kind or unit of a series is malformed",
            Self::BadTable => "the sketch table is malformed",
        })
    }
}

impl core::error::Error for IndexError {}

impl From<Truncated> for IndexError {
    fn from(_: Truncated) -> Self {
        Self::Truncated
    }
}

/// Names or entries that can't be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A name that does not come after the one before it.
    OutOfOrder,
    /// A name or a unit longer than the format allows.
    TooLong,
    /// More than 4 GiB, or more than 2^32 − 1 series.
    TooMuch,
}

impl fmt::Display for BuildError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::OutOfOrder => "the names are not in ascending order",
            Self::TooLong => "a name or unit is too long",
            Self::TooMuch => "the section would exceed 4 GiB",
        })
    }
}

impl core::error::Error for BuildError {}
