//! Dictionaries: few distinct floats, sorted, and a code for each row.
//!
//! ```text
//! dictionary   entries - 1 (varint, below the count of rows), how they are coded (1),
//!              the entries as a column of floats with predictor last, the codes as a predicted column
//!              coded as  0 to 15 = decimal of so many decimals, 16 to 31 = single, 32 = bits
//! ```
//!
//! Entries are in the ascending order of their ordered bits, so that neighbours in code are neighbours in
//! value. A hash table with open addressing finds them; it lies in scratch memory.

use super::grid::ordered;

/// More distinct values than this are no dictionary: it and its table would not stay in the cache.
pub(super) const ENTRIES_MAX: usize = 1024;

/// A slot of the table that holds no key.
const EMPTY: i64 = -1;

/// Lists the distinct `values` as sorted keys (ordered bits) in `keys`, and the code of each value in
/// `codes`; how many keys, or `None` if they are too many.
///
/// `ranks` and `table` are the hash table; all slices have a slot for each value.
pub(super) fn build(
    values: impl Iterator<Item = f64> + Clone,
    codes: &mut [i64],
    keys: &mut [i64],
    ranks: &mut [i64],
    table: &mut [i64],
) -> Option<usize> {
    let slots = ranks.len().min(table.len());
    // The largest power of two that fits, and is at most four times the most entries.
    let bits = slots.checked_ilog2()?.min((4 * ENTRIES_MAX).ilog2());
    let (ranks, table) = (ranks.get_mut(..1 << bits)?, table.get_mut(..1 << bits)?);
    let entries_max = ENTRIES_MAX.min(ranks.len() / 2).min(keys.len());
    ranks.fill(EMPTY);
    let mut entries = 0;
    for value in values.clone() {
        let key = ordered(value);
        let slot = find(key, bits, ranks, table);
        let rank = ranks.get_mut(slot)?;
        if *rank == EMPTY {
            if entries == entries_max {
                return None;
            }
            *rank = entries as i64;
            *table.get_mut(slot)? = key;
            *keys.get_mut(entries)? = key;
            entries += 1;
        }
    }
    let keys = keys.get_mut(..entries)?;
    keys.sort_unstable();
    for (rank, &key) in (0..).zip(keys.iter()) {
        let slot = find(key, bits, ranks, table);
        *ranks.get_mut(slot)? = rank;
    }
    for (code, value) in codes.iter_mut().zip(values) {
        let slot = find(ordered(value), bits, ranks, table);
        *code = ranks.get(slot).copied()?;
    }
    Some(entries)
}

/// The slot of `key`, or the empty one where it belongs. The table is never more than half full.
fn find(key: i64, bits: u32, ranks: &[i64], table: &[i64]) -> usize {
    // Fibonacci hashing: the high bits of a product with 2^64 / the golden ratio.
    let hash = (key as u64 ^ (key as u64 >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut slot = (hash >> (u64::BITS - bits.max(1))) as usize % ranks.len().max(1);
    while ranks.get(slot).is_some_and(|&rank| rank != EMPTY) && table.get(slot) != Some(&key) {
        slot = (slot + 1) % ranks.len();
    }
    slot
}

#[cfg(test)]
mod tests {
    use super::{ENTRIES_MAX, build};
    use crate::codec::grid::from_ordered;
    use proptest::{collection::vec, prelude::*};

    fn built(values: &[f64]) -> Option<(Vec<f64>, Vec<i64>)> {
        let part = || vec![7_i64; values.len()];
        let (mut codes, mut keys) = (part(), part());
        let entries = build(values.iter().copied(), &mut codes, &mut keys, &mut part(), &mut part())?;
        Some((keys[..entries].iter().map(|&key| from_ordered(key)).collect(), codes))
    }

    #[test]
    fn entries_are_sorted_and_distinct() {
        let values = [2.5, -1.0, 0.0, -0.0, 2.5, -1.0, 2.5, 0.0, 0.0, 0.0];
        assert_eq!(built(&values), Some((vec![-1.0, -0.0, 0.0, 2.5], vec![3, 0, 2, 1, 3, 0, 3, 2, 2, 2])));
        assert_eq!(built(&[]), None);
        assert_eq!(built(&[1.0, 2.0, 3.0]), None);
        let many: Vec<f64> = (0..5000).map(|index| f64::from(index % 1025)).collect();
        assert_eq!(built(&many), None);
        assert_eq!(built(&many[..1024 * 2]), None);
        let most: Vec<f64> = (0..5000).map(|index| f64::from(index % 1024)).collect();
        assert_eq!(built(&most).map(|(keys, _)| keys.len()), Some(ENTRIES_MAX));
    }

    proptest! {
        #[test]
        fn codes_name_their_values(picks in vec(0..30_usize, 90..300), pool in vec(any::<u64>(), 30)) {
            let values: Vec<f64> = picks.iter().map(|&pick| f64::from_bits(pool[pick])).collect();
            let (keys, codes) = built(&values).unwrap();
            for (value, code) in values.iter().zip(codes) {
                prop_assert_eq!(keys[code as usize].to_bits(), value.to_bits());
            }
        }
    }
}
