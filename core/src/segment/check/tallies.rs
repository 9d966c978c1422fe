//! What is counted for each series while a segment is checked.

use alloc::collections::BTreeMap;

/// Series that are counted at most; a segment with more is checked without the rest.
const SERIES_MAX: usize = 4 << 20;

/// What is known of one series.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Hash of name, kind and unit as defined.
    pub definition: Option<u64>,
    /// Rows below its root.
    pub in_root: Option<u64>,
    /// Rows in leaves.
    pub in_leaves: u64,
    /// The last timestamp in leaves.
    pub last_at: Option<i64>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    series: BTreeMap<u32, Tally>,
}

impl Tallies {
    /// That of a series; `None` beyond the limit.
    pub(super) fn of(&mut self, series: u32) -> Option<&mut Tally> {
        if self.series.len() >= SERIES_MAX && !self.series.contains_key(&series) {
            return None;
        }
        Some(self.series.entry(series).or_default())
    }

    pub(super) fn get(&self, series: u32) -> Option<&Tally> {
        self.series.get(&series)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Tally)> {
        self.series.iter().map(|(series, tally)| (*series, tally))
    }
}

/// One number for name, kind and unit: FNV-1a, 64 bits.
pub(super) fn definition_hash(name: &str, kind: u8, unit: &str) -> u64 {
    // FF is in no text, so that name and unit can't run into each other.
    let bytes = name.bytes().chain([0xFF, kind]).chain(unit.bytes());
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}
