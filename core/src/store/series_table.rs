//! The series of a running store: a number for each name, with its kind and unit.
//!
//! The number is the store's own and lives as long as the process: segments and journal files have
//! numbers of their own, and only the name means the same everywhere.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::journal::Names;
use crate::index::{BuildError, Live};
use crate::point::ValueKind;
use crate::segment::Units;
use crate::series::SeriesName;

/// The number of a series in a running store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesId(pub u32);

/// All series that were named since the start.
#[derive(Debug, Default)]
pub(super) struct SeriesTable {
    live: Live,
    kinds: Vec<(ValueKind, Arc<str>)>,
    units: Units,
}

impl SeriesTable {
    /// The number of a series; a new one gets this kind and unit.
    pub(super) fn add(&mut self, name: &SeriesName, kind: ValueKind, unit: &str) -> Result<u32, BuildError> {
        let number = self.live.add(name)?;
        if number as usize == self.kinds.len() {
            self.kinds.push((kind, self.units.share(unit)));
        }
        Ok(number)
    }

    /// Name, kind and unit.
    pub(super) fn get(&self, series: u32) -> Option<(&SeriesName, ValueKind, &str)> {
        let (kind, unit) = self.kinds.get(series as usize)?;
        Some((self.live.name(series)?, *kind, unit))
    }

    /// The index over the names.
    pub(super) fn live(&self) -> &Live {
        &self.live
    }
}

impl Names for SeriesTable {
    fn definition(&self, series: u32) -> (&str, ValueKind, &str) {
        self.get(series).map_or(("", ValueKind::Float, ""), |(name, kind, unit)| (name.as_str(), kind, unit))
    }
}
