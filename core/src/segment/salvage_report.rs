//! What a salvage kept and what it lost.

use crate::point::TimeRange;
use crate::series::SeriesName;
use alloc::vec::Vec;

/// Readings of one chunk that are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Of which series, where that is known.
    pub name: Option<SeriesName>,
    /// From the first to behind the last.
    pub span: TimeRange,
    /// How many.
    pub rows: u64,
}

/// What was kept and what was lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SalvageReport {
    /// Readings in the copy.
    pub rows: u64,
    /// Series in the copy.
    pub series: u32,
    /// Blocks of the damaged file that could not be read.
    pub blocks_lost: u64,
    /// Series whose names are lost; in the copy they are called `name_lost`.
    pub names_lost: u32,
    /// Readings that decode and contradict those before them.
    pub rows_refused: u64,
    /// Rank, partition and kind were lost.
    pub is_header_lost: bool,
    /// Which segments it took the place of could not be read.
    pub is_history_lost: bool,
    /// What is lost, as far as something still names it.
    pub losses: Vec<Loss>,
}
