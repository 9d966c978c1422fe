//! What the store refuses and what makes it fail.

use alloc::string::String;

use crate::segment::AppendError;

/// Why the store did not do something.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError<E> {
    /// The medium failed. What reached it is unknown: the store takes nothing more and is to be opened
    /// again.
    Medium(E),
    /// An earlier operation failed; the store is to be opened again.
    Failed,
    /// A newer program wrote into the store: this file is of a version that this one doesn't know. Nothing was changed.
    Newer {
        /// The file, below the store's directory.
        path: String,
        /// Its version.
        version: u16,
        /// The highest version of such files that this program knows.
        known: u16,
    },
    /// The store that was to be opened again is not there: nothing is. Nothing was changed.
    NoStore,
    /// The store that was to be opened again is not there, but another one. Nothing was changed.
    OtherStore,
    /// No series has this number.
    UnknownSeries,
    /// More series than numbers.
    TooManySeries,
    /// The text of a state is longer than 255 bytes.
    StateTooLong,
    /// `i64::MAX` can't be stored: ranges need an end behind it.
    TimestampTooLarge,
    /// The unit is longer than 255 bytes.
    UnitTooLong,
    /// A point was decided to fit a segment and did not: a fault of the store itself.
    Refused(AppendError),
    /// A message did not fit an empty journal file: a fault of the store itself.
    JournalFull,
}

impl<E> From<E> for StoreError<E> {
    fn from(error: E) -> Self {
        Self::Medium(error)
    }
}

impl<E: core::fmt::Display> core::fmt::Display for StoreError<E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Medium(error) => write!(f, "the medium failed: {error}"),
            Self::Failed => write!(f, "the store failed before and has to be opened again"),
            Self::Newer { path, version, known } => write!(
                f,
                "{path} is of version {version}, and this program knows versions up to {known}: a newer one wrote into \
                 this store, and only such a one may open it; nothing was changed"
            ),
            Self::NoStore => write!(f, "there is no store any more"),
            Self::OtherStore => write!(f, "there is another store than before"),
            Self::UnknownSeries => write!(f, "no series has this number"),
            Self::TooManySeries => write!(f, "more series than can be numbered"),
            Self::StateTooLong => write!(f, "the text of a state has more than 255 bytes"),
            Self::TimestampTooLarge => write!(f, "the timestamp is the largest there is and can't be stored"),
            Self::UnitTooLong => write!(f, "the unit has more than 255 bytes"),
            Self::Refused(error) => write!(f, "a segment refused a point: {error}"),
            Self::JournalFull => write!(f, "a message did not fit the journal"),
        }
    }
}

impl<E: core::error::Error> core::error::Error for StoreError<E> {}
